"""Language runtimes: Go's own resolver, the JVM's cache, Node's two ways, and those that only ask libc (Python, .NET)."""
