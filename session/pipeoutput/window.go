// Package pipeoutput makes what a program on pipes wrote into text for a reader: decoded,
// within bounds, and without what is not text.
//
//	bytes of a stream ─▶ gate (binary?) ─▶ decoder ─▶ window of the stream
//	                                              └─▶ window of both, as it arrived
//
// Everything here is a pure machine; it belongs to one goroutine.
package pipeoutput

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WindowBytes is what is kept of a stream: the beginning and the end, half each.
const WindowBytes = 16 << 20

// Window keeps the head and the tail of a text. The zero value is not usable.
type Window struct {
	half int
	head []byte
	tail []byte // its last half bytes count
	all  int64
}

// NewWindow keeps up to n bytes.
func NewWindow(n int) *Window { return &Window{half: n / 2} }

// Write adds text. It never fails.
func (w *Window) Write(p []byte) (int, error) {
	n := len(p)
	w.all += int64(n)
	k := min(len(p), w.half-len(w.head))
	w.head = append(w.head, p[:k]...)
	p = p[k:]
	if len(p) >= w.half {
		w.tail = append(w.tail[:0], p[len(p)-w.half:]...)
		return n, nil
	}
	if len(w.tail)+len(p) > 2*w.half { // moved once for each half that came
		keep := copy(w.tail, w.tail[len(w.tail)-w.half:])
		w.tail = w.tail[:keep]
	}
	w.tail = append(w.tail, p...)
	return n, nil
}

// Cut returns the number of omitted bytes.
func (w *Window) Cut() int64 {
	return w.all - int64(len(w.head)) - int64(min(len(w.tail), w.half))
}

// Text returns the kept text; a line in the middle gives the omitted amount. It contains no partial characters.
func (w *Window) Text() string {
	tail := w.tail[max(0, len(w.tail)-w.half):]
	cut := w.Cut()
	if cut == 0 {
		return string(w.head) + string(tail)
	}
	head := w.head
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if c := head[len(head)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(head[len(head)-i:]) {
				head = head[:len(head)-i]
				cut += int64(i)
			}
			break
		}
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
		cut++
	}
	var b strings.Builder
	b.Grow(len(head) + len(tail) + 64)
	b.Write(head)
	fmt.Fprintf(&b, "\n[%d bytes cut]\n", cut)
	b.Write(tail)
	return b.String()
}
