// Each argument looked up as an application's own require('dns').lookup does.
const d=require('dns');let c=process.argv.slice(1);c.forEach(n=>d.lookup(n,{all:true},(e,a)=>console.log(e?n+'\t'+e.code+'\t'+e.message:n+'\tok\t'+a.map(x=>x.address).join(' '))))
