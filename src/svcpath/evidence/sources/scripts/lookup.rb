# Each argument looked up by Ruby's own Addrinfo.
require "socket"; ARGV.each{|n| begin; puts n+"\tok\t"+Addrinfo.getaddrinfo(n,nil,nil,:STREAM).map(&:ip_address).uniq.join(" ");rescue SocketError=>e; puts n+"\t\t"+e.message; end}
