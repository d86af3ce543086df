// Leads the port that agents can speak to (argv[3]) to the proxy's socket (argv[2]).
import net from 'node:net';
const [socket, port] = process.argv.slice(2);
net.createServer((client) => {
  const proxy = net.connect(socket);
  client.on('error', () => proxy.destroy());
  proxy.on('error', () => client.destroy());
  client.pipe(proxy).pipe(client);
}).listen(Number(port), '127.0.0.1');
