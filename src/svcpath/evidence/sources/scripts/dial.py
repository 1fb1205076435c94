# Each URL connected to, sixteen at a time: URL, outcome, HTTP status, own address and port, seconds, error, and of a
# large request its length, the segment's, and the bytes that were not acknowledged. See dials.py for the greetings.
# Any Python 3 that the container has.
import socket,sys,time,threading
def dial(u):
  s,_,r=u.partition('://'); h,_,p=r.rpartition(':'); h=h.strip('[]'); t=time.time(); o=e='';c=0;l=('',0);d='';m=g=0;w='';y=s[:3]=='udp'
  k=socket.socket(socket.AF_INET6 if ':' in h else socket.AF_INET,socket.SOCK_DGRAM if y else socket.SOCK_STREAM); k.settimeout(2)
  try:
    k.connect((h,int(p))); d='%.6f'%(time.time()-t); l=k.getsockname(); o='ok'
  except socket.timeout: o='timeout'; e='no answer in 2 s'
  except Exception as x: o='errno'; e=str(x)
  if o=='ok' and y:
    q=b'' if s=='udp' else b'\x5c\x70\1\0\0\1\0\0\0\0\0\0\12kubernetes\7default\3svc\7cluster\5local\0\0\1\0\1'
    o='unanswered'; e='nothing came back in 2 s'; d=''; k.settimeout(1)
    for n in (1,2):
      try: k.send(q); k.recv(512); o='ok'; e=''; d='%.6f'%(time.time()-t); break
      except socket.timeout: pass
      except Exception as x: o='errno'; e=str(x); break
    if o=='unanswered' and q: o='timeout'
  if o=='ok' and s in ('http','large'):
    try:
      b=('GET / HTTP/1.1\r\nHost: '+r+'\r\nUser-Agent: svcpath\r\nConnection: close\r\n'+('X-Pad: '+'x'*3000+'\r\n' if s=='large' else '')+'\r\n').encode()
      if s=='large': m=len(b); g=k.getsockopt(socket.IPPROTO_TCP,socket.TCP_MAXSEG)
      k.settimeout(2 if m else 4); k.sendall(b); b=k.recv(512); f=b.split(b' ',2)
      if b[:5]==b'HTTP/' and len(f)>1: c=int(f[1][:3])
      else: o='http-error'; e='no HTTP reply' if b else 'closed without a reply'
    except socket.timeout:
      o='stalled' if m else 'http-error'; e='no reply in %d s'%(2 if m else 4)
      if m:
        try:
          import fcntl,termios,struct; w=str(struct.unpack('i',fcntl.ioctl(k.fileno(),termios.TIOCOUTQ,b'1234'))[0])
        except Exception: pass
    except Exception as x: o='http-error'; e=str(x)
  if o=='ok' and s=='https':
    try:
      import ssl; q=ssl.create_default_context(); q.check_hostname=False; q.verify_mode=ssl.CERT_NONE; q.wrap_socket(k).close()
    except Exception as x: o='tls-error'; e=str(x)
  k.close(); print('\t'.join([u,o,str(c),l[0],str(l[1]),d,e.replace('\n',' ').replace('\t',' '),str(m),str(g),w])+'\n',end='',flush=True)
a=sys.argv[1:]
for i in range(0,len(a),16):
  g=[threading.Thread(target=dial,args=(u,)) for u in a[i:i+16]]
  [x.start() for x in g]; [x.join() for x in g]
