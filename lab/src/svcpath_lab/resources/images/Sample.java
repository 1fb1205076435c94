// A JVM's client of a name: a new connection and a request at every due time, each by a look-up of the name, so that what
// the JVM keeps of an earlier answer (networkaddress.cache.ttl, java.net.InetAddress) shows. Writes the sampler's lines.
//
//     java Sample CACHE_TTL|default HOST PORT RATE SECONDS TIMEOUT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.Security;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class Sample {
    static int number = 0;

    static double now() {
        var instant = java.time.Instant.now();
        return instant.getEpochSecond() + instant.getNano() / 1e9;
    }

    static String stamp(double at) {
        return at == 0 ? "null" : String.format(Locale.ROOT, "%.6f", at);
    }

    static synchronized void row(double due, double start, double connected, double first, String peer, String outcome, String detail) {
        String clean = detail == null ? "" : detail.replaceAll("[^ -~]|[\"\\\\]", " ");
        System.out.printf(Locale.ROOT,
            "{\"n\":%d,\"kind\":\"new\",\"due\":%s,\"start\":%s,\"connected\":%s,\"first\":%s,\"end\":%s,\"peer\":\"%s\",\"outcome\":\"%s\",\"status\":%d,\"detail\":\"%s\"}%n",
            ++number, stamp(due), stamp(start), stamp(connected), stamp(first), stamp(now()), peer, outcome,
            outcome.equals("ok") ? 200 : 0, clean);
        System.out.flush();
    }

    static String outcome(IOException error, boolean connected) {
        if (error instanceof UnknownHostException) return "dns-failure";
        if (error instanceof SocketTimeoutException) return "timeout";
        if (error instanceof NoRouteToHostException) return "no-route";
        if (error instanceof ConnectException) return String.valueOf(error.getMessage()).contains("refused") ? "refused" : "error";
        if (error instanceof SocketException) return connected ? "cut" : "reset";
        return connected ? "cut" : "error";
    }

    static void attempt(double due, String host, int port, int timeout) {
        double start = now(), connected = 0, first = 0;
        String at = "";
        try (Socket socket = new Socket()) {
            InetAddress address = InetAddress.getByName(host);
            at = address.getHostAddress();
            socket.setSoTimeout(timeout);
            socket.connect(new InetSocketAddress(address, port), timeout);
            connected = now();
            socket.getOutputStream().write(("GET /hostname HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n").getBytes());
            var reader = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            String line = reader.readLine();
            first = now();
            boolean ok = line != null && line.contains(" 200 ");
            while (line != null && !line.isEmpty()) line = reader.readLine();
            String body = reader.readLine();
            row(due, start, connected, first, body == null ? at : body.trim(), ok && body != null ? "ok" : "cut", at);
        } catch (IOException error) {
            row(due, start, connected, first, at, outcome(error, connected != 0), at + " " + error.getMessage());
        }
    }

    public static void main(String[] words) throws InterruptedException {
        if (!words[0].equals("default")) Security.setProperty("networkaddress.cache.ttl", words[0]);
        double rate = Double.parseDouble(words[3]), seconds = Double.parseDouble(words[4]);
        int port = Integer.parseInt(words[2]), timeout = (int) (Double.parseDouble(words[5]) * 1000);
        ExecutorService pool = Executors.newCachedThreadPool();
        double begin = now();
        for (int count = 0; count / rate < seconds; count++) {
            double due = begin + count / rate;
            Thread.sleep(Math.max(0, Math.round((due - now()) * 1000)));
            pool.execute(() -> attempt(due, words[1], port, timeout));
        }
        pool.shutdown();
        pool.awaitTermination(30, TimeUnit.SECONDS);
        System.out.printf("{\"kind\":\"end\",\"sampled\":%d,\"late\":0}%n", number);
    }
}
