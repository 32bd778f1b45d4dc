package shortcut

import (
	"os"
	"strconv"
	"syscall"
	_ "unsafe" // for go:linkname

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
)

const (
	// leaveKey leaves an attached session where nobody configured another one.
	leaveKey = `C-\ d`
	// upgrade asks for a WebSocket (RFC 6455, 4.1). The key keeps caches on the way from answering; there are none.
	upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: bG9uZ3Rlcm0gYXR0YWNoZQ==\r\nSec-WebSocket-Version: 13\r\n"
	// most is how much of a stream is waited for here, in bytes.
	most = 1 << 20
	// letDraw is how long the terminal is given to take a drawing, in nanoseconds.
	letDraw = 200_000
)

// showSession begins to attach the person's terminal to a session: the stream is opened, the terminal is taken, and the
// first drawing is on it before the program is initialised. The verb goes on with both (Begun, Taken).
func showSession(g *given) {
	path := g.path("/attach")
	if path == "" || len(g.words) != 1 || g.dashed >= 0 || os.Getenv("LONGTERM_SESSION") != "" || !settled() {
		return
	}
	cols, rows, ok := takeover.AreTerminals()
	if !ok || cols < 1 || rows < 1 {
		return
	}
	key, err := uuid()
	if err != nil {
		return
	}
	uri := path + "?cols=" + strconv.Itoa(cols) + "&resume=" + key + "&rows=" + strconv.Itoa(rows) + "&screen=own&taken=late"
	f := begin("GET", uri, upgrade, "")
	if f == nil {
		return
	}
	name := ""
	read(f, func(all string) bool {
		head, _, whole := cut(all, "\r\n\r\n")
		if whole {
			name = nameIn(head)
		}
		return whole
	})
	if name == "" { // what is wrong is the verb's to say
		return
	}
	keepLeaving()
	t, err := takeover.Take(cols, rows, takeover.Banner(name, leaveKey))
	if err != nil {
		return
	}
	Taken = t
	drawing, there := firstDrawing(Begun.Got)
	if !there {
		read(f, func(all string) bool {
			drawing, there = firstDrawing(all)
			return there || len(all) > most
		})
	}
	if there && !takeover.ChangesSettings([]byte(drawing)) && write(drawing) { // otherwise the guard has to know of them first
		t.Drawn = len(drawing)
		// Initialisation keeps a processor busy for milliseconds, and the guard's start another one: the terminal goes first.
		_ = syscall.Nanosleep(&syscall.Timespec{Nsec: letDraw}, nil)
	}
}

// uuid is a key of this client's own, by which what is typed is typed once.
func uuid() (string, error) {
	id, err := randomID()
	if err != nil {
		return "", err
	}
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:], nil
}

// nameIn is the session's name in the head of an answer that opens a stream; empty: it opens none, the name is not
// plain, or the session has ended.
func nameIn(head string) string {
	const switching, field, ended = "HTTP/1.1 101 ", "\r\nLongterm-Name: ", "\r\nLongterm-Ended: "
	if _, _, over := cut(head, ended); over {
		return ""
	}
	if len(head) < len(switching) || head[:len(switching)] != switching {
		return ""
	}
	_, after, _ := cut(head+"\r\n", field)
	name, _, _ := cut(after, "\r\n")
	if !plainName(name) {
		return ""
	}
	return name
}

// firstDrawing is the first binary message of a stream, behind the head of its answer (RFC 6455, 5.2). It is there once
// all of it is, and before it there is nothing but texts.
func firstDrawing(all string) (drawing string, there bool) {
	_, s, _ := cut(all, "\r\n\r\n")
	for {
		kind, payload, rest, ok := message(s)
		if !ok || kind != binary && kind != text {
			return "", false
		}
		if kind == binary {
			return payload, true
		}
		s = rest
	}
}

// Opcodes of messages.
const (
	text   = 1
	binary = 2
)

// message takes the first message of a stream from a server, which is in one frame and not masked; not ok: it is not, or
// not there as a whole.
func message(s string) (kind byte, payload, rest string, ok bool) {
	const last = 0x80
	if len(s) < 2 || s[0]&^0xf != last || s[1] > 127 {
		return 0, "", "", false
	}
	n, at := uint64(s[1]), 2
	if n > 125 {
		size := 2
		if n == 127 {
			size = 8
		}
		if n = 0; len(s) < at+size {
			return 0, "", "", false
		}
		for ; size > 0; size-- {
			n, at = n<<8|uint64(s[at]), at+1
		}
	}
	if n > uint64(len(s)-at) {
		return 0, "", "", false
	}
	return s[0] & 0xf, s[at : at+int(n)], s[at+int(n):], true
}

// signalEnable is what os/signal.Notify begins with: the runtime keeps a signal for whom it notifies, if need be later.
// Package runtime gives it to os/signal by the same name, which cannot be imported here (version.go).
//
//go:linkname signalEnable os/signal.signal_enable
func signalEnable(uint32)

// keepLeaving has signals that come before the verb listens be kept for it. None of them ends the program then.
func keepLeaving() {
	for _, s := range takeover.Leaving {
		signalEnable(uint32(s.(syscall.Signal)))
	}
}

// keepInterrupt has an interrupt that comes before the verb listens be kept for it: what it interrupts has begun, and the
// verb says so.
func keepInterrupt() { signalEnable(uint32(syscall.SIGINT)) }
