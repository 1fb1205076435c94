import java.net.InetAddress;

/** One InetAddress.getAllByName call, its result as one line of JSON. */
public class Lookup {
    public static void main(String[] args) {
        StringBuilder line = new StringBuilder();
        try {
            for (InetAddress address : InetAddress.getAllByName(args[0])) {
                line.append(line.length() == 0 ? "" : ", ").append('"').append(address.getHostAddress()).append('"');
            }
            System.out.println("{\"ok\": true, \"addrs\": [" + line + "]}");
        } catch (Exception error) {
            String text = error.toString().replace("\\", "\\\\").replace("\"", "\\\"");
            System.out.println("{\"ok\": false, \"err\": \"" + text + "\"}");
        }
    }
}
