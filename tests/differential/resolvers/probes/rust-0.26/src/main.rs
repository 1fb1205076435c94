// One hickory lookup_ip call with the system's configuration, its result as one line of JSON.
use hickory_resolver::TokioResolver;

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let name = std::env::args().nth(1).expect("a name");
    let resolver = match TokioResolver::builder_tokio().and_then(|builder| builder.build()) {
        Ok(resolver) => resolver,
        Err(error) => {
            println!("{{\"ok\": false, \"err\": {}}}", quoted(&error.to_string()));
            return;
        }
    };
    match resolver.lookup_ip(name).await {
        Ok(found) => {
            let addresses: Vec<String> = found.iter().map(|address| quoted(&address.to_string())).collect();
            println!("{{\"ok\": true, \"addrs\": [{}]}}", addresses.join(", "));
        }
        Err(error) => println!("{{\"ok\": false, \"err\": {}}}", quoted(&error.to_string())),
    }
}
