// Each argument looked up by the JVM's own InetAddress.
class L{public static void main(String[] n){for(String x:n){try{StringBuilder b=new StringBuilder();for(java.net.InetAddress a:java.net.InetAddress.getAllByName(x))b.append(a.getHostAddress()).append(" ");System.out.println(x+"\tok\t"+b);}catch(Exception e){System.out.println(x+"\t\t"+e);}}}}
