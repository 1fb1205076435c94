import java.net.InetAddress;
import java.net.UnknownHostException;

/** Resolve NAME...: what InetAddress gives for each name, one line each: NAME -> ADDRESS... or NAME -> error TEXT. */
public class Resolve {
    public static void main(String[] names) {
        int failed = 0;
        for (String name : names) {
            StringBuilder line = new StringBuilder(name).append(" ->");
            try {
                for (InetAddress address : InetAddress.getAllByName(name)) {
                    line.append(' ').append(address.getHostAddress());
                }
            } catch (UnknownHostException error) {
                failed = 1;
                line.append(" error ").append(error.getMessage());
            }
            System.out.println(line);
        }
        System.exit(failed);
    }
}
