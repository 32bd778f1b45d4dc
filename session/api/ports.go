package api

import (
	"net"
	"strconv"
)

// Port is a socket on which a process of a session accepts connections. Its kind is the one of Port and Unix that is
// set.
type Port struct {
	Port    int    `json:"port,omitempty" doc:"TCP port"`
	Address string `json:"address,omitempty" doc:"IP address of the socket; 0.0.0.0 and :: stand for all addresses of the machine"`
	Unix    string `json:"unix,omitempty" doc:"path of a Unix socket; a leading @ means an abstract name"`
	PID     int    `json:"pid" doc:"process with the socket; the lowest pid of several"`
	Program string `json:"program,omitempty" doc:"name of that process's program"`
	Inside  bool   `json:"inside_sandbox,omitempty" doc:"it is in the network of the session's sandbox: programs outside cannot connect"`
}

// SameSocket reports whether two ports are the same socket address, whichever process holds it.
func (p *Port) SameSocket(o *Port) bool {
	return p.Port == o.Port && p.Address == o.Address && p.Unix == o.Unix && p.Inside == o.Inside
}

// ParsePort parses the port of a condition. Any port is 0, written as "0", "any" or "".
func ParsePort(text string) (port int, ok bool) {
	if text == "" || text == "any" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && n > 0
}

// ReachableAddress returns the address at which this machine reaches the port: loopback if it listens on all addresses.
func (p *Port) ReachableAddress() string {
	ip := p.Address
	switch ip {
	case "0.0.0.0":
		ip = "127.0.0.1"
	case "::":
		ip = "::1"
	}
	return net.JoinHostPort(ip, strconv.Itoa(p.Port))
}

// Text returns the socket's address, as in 127.0.0.1:3000 or /run/x.sock.
func (p *Port) Text() string {
	if p.Unix != "" {
		return p.Unix
	}
	return net.JoinHostPort(p.Address, strconv.Itoa(p.Port))
}
