package fastpath

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/config"
)

// TestAttachDefaults checks that the defaults without a configuration are the configuration's.
func TestAttachDefaults(t *testing.T) {
	is := config.Default()
	if is.Attach.DetachKey != detachKey || is.Attach.Scrollback || is.Attach.Size != "latest" || is.Shells.SSHAgent {
		t.Errorf("%+v", is.Attach)
	}
	head := "HTTP/1.1 101 Switching Protocols\r\n" + attach.IDHeader + ": x-1\r\n" + attach.NameHeader + ": n-1"
	if got := nameIn(head); got != "n-1" {
		t.Errorf("name %q in %q", got, head)
	}
	for _, head := range []string{
		"", "HTTP/1.1 101", "HTTP/1.1 200 OK\r\n" + attach.NameHeader + ": n", "HTTP/1.1 101 S\r\nX: y", "HTTP/1.1 101 S\r\n" + attach.NameHeader + ": a%20b",
		head + "\r\n" + attach.EndedHeader + ": exited",
	} {
		if got := nameIn(head); got != "" {
			t.Errorf("name %q in %q", got, head)
		}
	}
}

// frame is an unmasked frame (RFC 6455, 5.2).
func frame(first byte, payload string) string {
	n := len(payload)
	switch {
	case n < 126:
		return string([]byte{first, byte(n)}) + payload
	case n < 1<<16:
		return string([]byte{first, 126, byte(n >> 8), byte(n)}) + payload
	}
	return string([]byte{first, 127, 0, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + payload
}

func TestFirstDrawing(t *testing.T) {
	const head = "HTTP/1.1 101 S\r\nA: b\r\n\r\n"
	for _, n := range []int{0, 1, 125, 126, 65535, 65536, 70000} {
		want := strings.Repeat("d", n)
		all := head + frame(0x81, `{"cols":1}`) + frame(0x81, strings.Repeat("t", 300)) + frame(0x82, want)
		for _, rest := range []string{"", frame(0x82, "more")[:3], frame(0x88, "")} {
			if got, ok := firstDrawing(all + rest); !ok || got != want {
				t.Errorf("%d bytes: %d, %v", n, len(got), ok)
			}
		}
		for cut := max(0, len(all)-400); cut < len(all); cut++ {
			if _, ok := firstDrawing(all[:cut]); ok {
				t.Errorf("%d bytes: there at %d of %d", n, cut, len(all))
			}
		}
	}
	for what, s := range map[string]string{
		"closed": frame(0x88, "\x03\xe8"), "a part": frame(0x02, "x"), "reserved bits": frame(0xc2, "x"), "masked": "\x82\x81aaaax",
		"endless": "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xffx", "closed after a text": frame(0x81, "{}") + frame(0x88, ""), "a ping": frame(0x89, ""),
	} {
		if got, ok := firstDrawing(head + s + frame(0x82, "later")); ok {
			t.Errorf("%s: %q", what, got)
		}
	}
}
