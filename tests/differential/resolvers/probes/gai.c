/* One getaddrinfo call, its result as one line of JSON. Built against glibc and, statically, against musl. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <netinet/in.h>

int main(int argc, char **argv)
{
	struct addrinfo hints, *list = NULL, *entry;
	char text[INET6_ADDRSTRLEN];
	int index = 1, first = 1, code;

	memset(&hints, 0, sizeof hints);
	hints.ai_socktype = SOCK_STREAM;
	if (index < argc && !strcmp(argv[index], "-4")) { hints.ai_family = AF_INET; index++; }
	else if (index < argc && !strcmp(argv[index], "-6")) { hints.ai_family = AF_INET6; index++; }
	if (index >= argc) return 2;
	code = getaddrinfo(argv[index], NULL, &hints, &list);
	if (code) {
		printf("{\"ok\": false, \"code\": %d, \"err\": \"%s\"}\n", code, gai_strerror(code));
		return 0;
	}
	printf("{\"ok\": true, \"addrs\": [");
	for (entry = list; entry; entry = entry->ai_next) {
		const void *raw = entry->ai_family == AF_INET
			? (const void *)&((struct sockaddr_in *)entry->ai_addr)->sin_addr
			: (const void *)&((struct sockaddr_in6 *)entry->ai_addr)->sin6_addr;
		inet_ntop(entry->ai_family, raw, text, sizeof text);
		printf("%s\"%s\"", first ? "" : ", ", text);
		first = 0;
	}
	printf("]}\n");
	freeaddrinfo(list);
	return 0;
}
