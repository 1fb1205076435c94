// One dns.lookup or dns.resolve4 call, its result as one line of JSON.
const dns = require('dns');
const [kind, name] = process.argv.slice(2);
const report = (error, addresses) => {
  const result = error
    ? { ok: false, err: error.message, code: error.code }
    : { ok: true, addrs: addresses.map((entry) => entry.address || entry) };
  console.log(JSON.stringify(result));
};
if (kind === 'lookup') dns.lookup(name, { all: true }, report);
else dns.resolve4(name, report);
