# Each argument looked up by the interpreter's own libc: NAME, "ok" or getaddrinfo's code, addresses or its text.
# Any Python that the container has, 2.7 too.
import socket,sys,os
try: v=os.confstr('CS_GNU_LIBC_VERSION')
except Exception: v=''
print('libc\t'+(v or 'unknown'))
for n in sys.argv[1:]:
  try:
    a=[]
    for r in socket.getaddrinfo(n,None,0,socket.SOCK_STREAM):
      if r[4][0] not in a: a.append(r[4][0])
    print(n+'\tok\t'+' '.join(a))
  except socket.gaierror as e: print(n+'\t'+str(e.args[0])+'\t'+str(e.args[1]))
  except Exception as e: print(n+'\t\t'+str(e))
