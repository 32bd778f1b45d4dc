// Package cast writes and reads recordings of terminals in the asciicast formats, versions 2
// and 3 (asciinema documentation, "asciicast v2", "asciicast v3"): a JSON header and then
// one event a line.
//
//	version 2    [seconds since the beginning, code, data]
//	version 3    [seconds since the event before, code, data]
//
// Codes are "o" (output), "i" (input), "r" (resize, "COLSxROWS"), "m" (marker) and, in version 3, "x" (exit status). Data is
// text, so output is cut only between characters: an incomplete character waits for its remaining bytes (Writer.Output). Bytes
// that are not UTF-8 become U+FFFD.
package cast

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// Versions of the format.
const (
	V2 = 2
	V3 = 3
)

// Header describes a recording.
type Header struct {
	Version    int // V2 or V3
	Cols, Rows int // cells
	Started    time.Time
	Command    string
	Title      string
	Env        map[string]string
}

// header2 and header3 are the header's lines.
type header2 struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

type header3 struct {
	Version int `json:"version"`
	Term    struct {
		Cols int    `json:"cols"`
		Rows int    `json:"rows"`
		Type string `json:"type,omitempty"`
	} `json:"term"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// Writer writes a recording. Times never decrease: an event with an earlier time than its predecessor gets the
// predecessor's.
type Writer struct {
	w       *bufio.Writer
	version int
	began   time.Time
	last    time.Duration // of the newest event, since began
	held    []byte        // incomplete character at the end of the output
	line    []byte
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	c := &Writer{w: bufio.NewWriterSize(w, 64<<10), version: h.Version, began: h.Started}
	var stamp int64
	if !h.Started.IsZero() {
		stamp = h.Started.Unix()
	}
	var line any
	switch h.Version {
	case V2:
		line = header2{V2, h.Cols, h.Rows, stamp, h.Command, h.Title, h.Env}
	case V3:
		v := header3{Version: V3, Timestamp: stamp, Command: h.Command, Title: h.Title}
		v.Term.Cols, v.Term.Rows = h.Cols, h.Rows
		v.Term.Type, v.Env = h.Env["TERM"], h.Env
		line = v
	default:
		return nil, fmt.Errorf("asciicast version %d; there are 2 and 3", h.Version)
	}
	b, err := json.Marshal(line)
	if err != nil {
		return nil, err
	}
	_, err = c.w.Write(append(b, '\n'))
	return c, err
}

// Output records output that was printed at a time.
func (c *Writer) Output(at time.Time, p []byte) error {
	c.held = append(c.held, p...)
	whole := len(c.held) - incompleteLen(c.held)
	if whole == 0 {
		return nil
	}
	err := c.event(at, "o", string(c.held[:whole]))
	c.held = append(c.held[:0], c.held[whole:]...)
	return err
}

// Resize records a change of size.
func (c *Writer) Resize(at time.Time, cols, rows int) error {
	return c.event(at, "r", strconv.Itoa(cols)+"x"+strconv.Itoa(rows))
}

// Mark records a marker with a label.
func (c *Writer) Mark(at time.Time, label string) error { return c.event(at, "m", label) }

// Exit records the exit status, where the format has an event for it.
func (c *Writer) Exit(at time.Time, status int) error {
	if c.version < V3 {
		return nil
	}
	return c.event(at, "x", strconv.Itoa(status))
}

// Close writes an incomplete character and flushes.
func (c *Writer) Close() error {
	var err error
	if len(c.held) > 0 {
		err = c.event(time.Time{}, "o", string(c.held))
	}
	return errors.Join(err, c.w.Flush())
}

// event writes a line. Times have microseconds, as asciinema writes them.
func (c *Writer) event(at time.Time, code, data string) error {
	t := c.last
	if !at.IsZero() && !c.began.IsZero() {
		t = max(t, at.Sub(c.began))
	}
	said := t
	if c.version == V3 {
		said = t - c.last
	}
	// Intervals are rounded so that they add up: what is cut from one is in the next.
	c.last += said.Truncate(time.Microsecond)
	if c.version == V2 {
		c.last = t
	}
	text, err := json.Marshal(data) // replaces what is no UTF-8
	if err != nil {
		return err
	}
	c.line = append(c.line[:0], '[')
	c.line = strconv.AppendFloat(c.line, said.Truncate(time.Microsecond).Seconds(), 'f', 6, 64)
	c.line = append(append(c.line, `, "`...), code...)
	c.line = append(append(c.line, `", `...), text...)
	_, err = c.w.Write(append(c.line, ']', '\n'))
	return err
}

// incompleteLen returns how many bytes at the end of p are an incomplete character.
func incompleteLen(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		b := p[len(p)-n]
		if !utf8.RuneStart(b) {
			continue
		}
		if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
			return n
		}
		return 0
	}
	return 0
}
