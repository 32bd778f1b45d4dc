package fastpath

import (
	"os"
	"strconv"
	"syscall"
	_ "unsafe" // for go:linkname

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
)

const (
	// detachKey is the default key that detaches.
	detachKey = `C-\ d`
	// upgrade requests a WebSocket (RFC 6455, 4.1). Its key is constant: the key only prevents answers from caches, and
	// a Unix socket has none.
	upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: bG9uZ3Rlcm0gYXR0YWNoZQ==\r\nSec-WebSocket-Version: 13\r\n"
	// maxStream limits the part of a stream that the fast path waits for, in bytes.
	maxStream = 1 << 20
	// drawPause is the pause in nanoseconds that lets the terminal take a drawing.
	drawPause = 200_000
)

// showSession attaches the user's terminal to a session as far as the first frame, before the program is initialised:
// it opens the stream, takes over the terminal and draws. The verb continues with both (Sent, Terminal).
func showSession(g *parsedArgs) {
	path := g.path("/attach")
	if path == "" || len(g.words) != 1 || g.dashed >= 0 || os.Getenv("LONGTERM_SESSION") != "" || !hasNoConfig() {
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
	if name == "" { // the verb reports the error
		return
	}
	holdTermination()
	t, err := takeover.TakeOver(cols, rows, takeover.Banner(name, detachKey))
	if err != nil {
		return
	}
	Terminal = t
	drawing, there := firstDrawing(Sent.Got)
	if !there {
		read(f, func(all string) bool {
			drawing, there = firstDrawing(all)
			return there || len(all) > maxStream
		})
	}
	if there && !takeover.ChangesSettings([]byte(drawing)) && write(drawing) { // otherwise the guard has to know of them first
		t.Drawn = len(drawing)
		// Initialisation keeps one processor busy for milliseconds, and the guard's start another one: let the terminal
		// draw first.
		_ = syscall.Nanosleep(&syscall.Timespec{Nsec: drawPause}, nil)
	}
}

// uuid returns a new random key for this client, by which the daemon detects duplicate input.
func uuid() (string, error) {
	id, err := randomID()
	if err != nil {
		return "", err
	}
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:], nil
}

// nameIn returns the session's name from the head of an answer that opens a stream. It returns "" for another answer, a
// name with special characters, or an ended session.
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

// firstDrawing returns the first binary message of a stream after the response head (RFC 6455, 5.2). there is false if
// it is incomplete or another message than text precedes it.
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

// message returns the first message of a server's stream, in one unmasked frame. It returns ok = false for another or
// incomplete message.
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

// signalEnable is what os/signal.Notify calls first: the runtime then holds a signal until a listener exists. Package
// runtime exports it to os/signal by this name; os/signal cannot be imported here (version.go).
//
//go:linkname signalEnable os/signal.signal_enable
func signalEnable(uint32)

// holdTermination holds back termination signals until the verb listens for them, so that none ends the program before the
// terminal is restored.
func holdTermination() {
	for _, s := range takeover.TerminationSignals {
		signalEnable(uint32(s.(syscall.Signal)))
	}
}

// deferInterrupt delays SIGINT until the command handles it. The request is already sent, and the command must report its
// outcome.
func deferInterrupt() { signalEnable(uint32(syscall.SIGINT)) }
