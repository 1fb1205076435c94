// One net.LookupIP call, its result as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
)

func main() {
	network, args := "ip", os.Args[1:]
	if len(args) > 1 && args[0] == "-4" {
		network, args = "ip4", args[1:]
	} else if len(args) > 1 && args[0] == "-6" {
		network, args = "ip6", args[1:]
	}
	result := map[string]any{"ok": true}
	addresses, err := net.DefaultResolver.LookupIP(context.Background(), network, args[0])
	if err != nil {
		result = map[string]any{"ok": false, "err": err.Error()}
		var failure *net.DNSError
		if errors.As(err, &failure) {
			result["notfound"] = failure.IsNotFound
			result["temporary"] = failure.IsTemporary
			result["timeout"] = failure.IsTimeout
		}
	} else {
		texts := []string{}
		for _, address := range addresses {
			texts = append(texts, address.String())
		}
		result["addrs"] = texts
	}
	json.NewEncoder(os.Stdout).Encode(result)
}
