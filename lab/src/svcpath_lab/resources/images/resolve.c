/* resolve NAME...: what this libc's getaddrinfo gives for each name, one line each:
 *   NAME -> ADDRESS...        or        NAME -> CODE TEXT
 * Linked statically against musl it is the musl probe; the version of that musl is in the file's name. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char **names) {
    int failed = 0;
    for (int i = 1; i < count; i++) {
        struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = 0, *each;
        int code = getaddrinfo(names[i], 0, &hints, &found);
        printf("%s ->", names[i]);
        if (code) {
            printf(" %d %s\n", code, gai_strerror(code));
            failed = 1;
            continue;
        }
        for (each = found; each; each = each->ai_next) {
            char text[INET6_ADDRSTRLEN] = "";
            const void *address = each->ai_family == AF_INET6
                ? (const void *)&((struct sockaddr_in6 *)each->ai_addr)->sin6_addr
                : (const void *)&((struct sockaddr_in *)each->ai_addr)->sin_addr;
            inet_ntop(each->ai_family, address, text, sizeof text);
            printf(" %s", text);
        }
        putchar('\n');
        freeaddrinfo(found);
    }
    return failed;
}
