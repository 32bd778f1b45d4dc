package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Host is an entry of a list of allowed hosts.
type Host struct {
	Name string // lower case; "*.example.org": all names below; "*": any
	Port int    // 0: any
	Addr netip.Prefix
}

// ParseHost parses NAME, NAME:PORT, *.NAME, an address or a range of them.
func ParseHost(s string) (Host, error) {
	wrong := func(why string) (Host, error) { return Host{}, fmt.Errorf("host %q: %s", s, why) }
	var h Host
	name := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (strings.Count(s, ":") == 1 || strings.HasPrefix(s, "[")) && !strings.HasSuffix(s, "]") {
		port, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || port == 0 {
			return wrong("a port is a number from 1 to 65535")
		}
		name, h.Port = s[:i], int(port)
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	bare := strings.Trim(name, "[]")
	if p, err := netip.ParsePrefix(bare); err == nil {
		h.Addr = p.Masked()
		return h, nil
	}
	if a, err := netip.ParseAddr(bare); err == nil {
		a = a.Unmap().WithZone("")
		h.Addr = netip.PrefixFrom(a, a.BitLen())
		return h, nil
	}
	h.Name = name
	rest := strings.TrimPrefix(name, "*.")
	if name != "*" && !isHostName(rest) {
		return wrong("write a name as in example.org, *.example.org or example.org:443, or an address")
	}
	return h, nil
}

// isHostName reports whether s is a valid DNS name.
func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// HostName normalizes a client's host name to the form of lists; ok is false for an invalid name.
func HostName(s string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(s, "."))
	return name, isHostName(name)
}

// MatchesName reports whether h matches a name and port.
func (h Host) MatchesName(name string, port int) bool {
	if h.Name == "" || h.Port != 0 && h.Port != port {
		return false
	}
	if below, ok := strings.CutPrefix(h.Name, "*."); ok {
		return strings.HasSuffix(name, "."+below)
	}
	return h.Name == "*" || h.Name == name
}

// MatchesAddr reports whether h matches an address and port by its address or range.
func (h Host) MatchesAddr(a netip.Addr, port int) bool {
	return h.Addr.IsValid() && (h.Port == 0 || h.Port == port) && h.Addr.Contains(a.Unmap().WithZone(""))
}

// Reaches reports whether programs in the sandbox can connect to a port of a host. "" stands for hosts that are not known, and a list
// of hosts is meant for these.
func (p *Profile) Reaches(host string, port int) bool {
	if p.Network != NetworkHosts || host == "" {
		return p.Network != NetworkOff
	}
	addr, err := netip.ParseAddr(host)
	name, _ := HostName(host)
	return slices.ContainsFunc(p.Hosts, func(s string) bool {
		h, wrong := ParseHost(s)
		return wrong == nil && (h.MatchesName(name, port) || err == nil && h.MatchesAddr(addr, port))
	})
}

// IsInternal reports whether an address is internal: loopback, private networks, links, unrouted ranges, and cloud
// metadata. Names never lead there; only listed addresses do.
func IsInternal(a netip.Addr) bool {
	a = a.Unmap()
	if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsMulticast() ||
		a.IsUnspecified() || a.IsInterfaceLocalMulticast() {
		return true
	}
	for _, p := range internalRanges {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// internalRanges are internal ranges without a method of netip.Addr.
var internalRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("::/96"),
}
