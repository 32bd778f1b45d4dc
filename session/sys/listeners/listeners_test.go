package listeners

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

// runHelper is the test program's behaviour as a listener; see find_linux_test.go.
var runHelper = func() {}

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		runHelper()
		return
	}
	os.Exit(isolate.Run(m))
}

// helperEnv starts this test program as a listener.
const helperEnv = "LISTENERS_HELPER"

const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"

// FEATURES: R128
func TestParseTCP(t *testing.T) {
	for line, want := range map[string]struct {
		addr        string
		inode       uint64
		listens, ok bool
	}{
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11345 1 0000 100 0 0 10 0":                 {"127.0.0.1:8080", 11345, true, true},
		"   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7 1 0000 100 0 0 10 0":                     {"0.0.0.0:80", 7, true, true},
		"   0: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 42 1": {"[::1]:3000", 42, true, true},
		"   0: 0000000000000000FFFF00000100007F:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 43 1": {"127.0.0.1:3000", 43, true, true},
		"   2: 0100007F:1F90 0100007F:AA10 01 00000000:00000000 00:00000000 00000000     0        0 9 1":                                       {"127.0.0.1:8080", 0, false, true},
		header: {"", 0, false, false},
		"   0: 0100007F:0000 00000000:0000 0A 0:0 0:0 0 0 0 5": {"", 0, false, false},
		"   0: 0100007F:1F90 00000000:0000 0A 0:0":             {"", 0, false, false},
		"   0: 01007F:1F90 0:0 0A 0:0 0:0 0 0 0 5":             {"", 0, false, false},
		"": {"", 0, false, false},
	} {
		addr, inode, listens, ok := parseTCP([]byte(line))
		if ok != want.ok || ok && (addr != netip.MustParseAddrPort(want.addr) || inode != want.inode || listens != want.listens) {
			t.Errorf("%q: %v %d %v %v", line, addr, inode, listens, ok)
		}
	}
}

// FEATURES: R128
func TestParseUnix(t *testing.T) {
	for line, want := range map[string]struct {
		path        string
		inode       uint64
		listens, ok bool
	}{
		"000000006ea8948a: 00000002 00000000 00010000 0001 01   110 /run/a b.sock":   {"/run/a b.sock", 110, true, true},
		"000000006ea8948a: 00000002 00000000 00010000 0001 01 20110 @abstract":       {"@abstract", 20110, true, true},
		"000000006ea8948a: 00000002 00000000 00010000 0001 01 20110  led by a space": {" led by a space", 20110, true, true},
		"000000006ea8948a: 00000003 00000000 00000000 0001 03   110 /run/x":          {"/run/x", 110, false, true},
		"000000006ea8948a: 00000003 00000000 00010000 0001 01   110":                 {"", 110, true, false},
		"Num       RefCount Protocol Flags    Type St Inode Path":                    {"", 0, false, false},
	} {
		path, inode, listens, ok := parseUnix([]byte(line))
		if ok != want.ok || ok && (path != want.path || inode != want.inode || listens != want.listens) {
			t.Errorf("%q: %q %d %v %v", line, path, inode, listens, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11345 1 0000"))
	f.Add([]byte("000000006ea8948a: 00000002 00000000 00010000 0001 01 20110 @abstract"))
	f.Add([]byte("socket:[12]"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if addr, _, listens, ok := parseTCP(line); ok && listens && (!addr.IsValid() || addr.Port() == 0) {
			t.Errorf("%q: %v", line, addr)
		}
		if path, _, _, ok := parseUnix(line); ok && (path == "" || !strings.Contains(string(line), path)) {
			t.Errorf("%q: %q", line, path)
		}
		if _, ok := parseLink(line); ok && !strings.HasPrefix(string(line), "socket:[") {
			t.Errorf("%q", line)
		}
	})
}

// FEATURES: R128
func TestNewGroupSockets_Truncates(t *testing.T) {
	var all []Socket
	for port := range uint16(MaxSockets + 5) {
		all = append(all, Socket{Addr: netip.AddrPortFrom(netip.IPv4Unspecified(), MaxSockets+5-port)})
	}
	all = append(all, Socket{Path: "/a"})
	f := newGroupSockets(all)
	if len(f.Sockets) != MaxSockets || f.Omitted != 6 || f.Sockets[0].Addr.Port() != 1 {
		t.Errorf("%d and %d more, first %v", len(f.Sockets), f.Omitted, f.Sockets[0])
	}
}
