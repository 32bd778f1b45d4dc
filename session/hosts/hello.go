package hosts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/session/api"
)

// Protocol is the version of the protocol between link and bridge; oldest is the oldest supported one.
const (
	Protocol = 1
	oldest   = 1
)

// Hello is a bridge's greeting.
type Hello struct {
	Protocol int      `json:"protocol"`
	Oldest   int      `json:"oldest"`
	Version  string   `json:"version" doc:"of the program"`
	Host     string   `json:"host" doc:"as it calls itself"`
	User     string   `json:"user"`
	Home     string   `json:"home"`
	System   string   `json:"system" doc:"as in linux/amd64"`
	Env      []string `json:"env,omitempty" doc:"what a session started from afar has"`
}

// Greeting is the link's response to Hello.
type Greeting struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
}

// Bounds and mark of the greeting lines, in bytes.
const (
	helloMark = "longterm-bridge "
	maxHello  = 1 << 20 // a line with an environment may be long
	maxNoise  = 1 << 16 // output of login scripts before it
)

// errNoHello is the error of a program that is not a bridge.
var errNoHello = errors.New("what answered is no longterm")

// writeMarked writes a value as a marked line of JSON.
func writeMarked(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(append([]byte(helloMark), b...), '\n'))
	return err
}

// readMarked reads the first marked line and skips the text before it.
func readMarked(r *bufio.Reader, v any) error {
	for noise := 0; ; {
		line, err := boundedLine(r)
		if rest, ok := bytes.CutPrefix(line, []byte(helloMark)); ok && err == nil {
			if err := json.Unmarshal(rest, v); err != nil {
				return fmt.Errorf("%w: %w", errNoHello, err)
			}
			return nil
		}
		if noise += len(line); err == nil && noise > maxNoise {
			err = errors.New("it prints on and on")
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoHello, err)
		}
	}
}

// boundedLine reads a line of at most maxHello bytes.
func boundedLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxHello {
			return nil, errors.New("a line is too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// checkProtocol returns an error if a bridge supports none of our protocols.
func (h *Hello) checkProtocol(t Target) error {
	if h.Protocol >= oldest && h.Oldest <= Protocol {
		return nil
	}
	return api.Errorf(api.CodeHostVersion, "%s has longterm %s, with protocol %d to %d; this one has %d to %d",
		t, printable(h.Version), h.Oldest, h.Protocol, oldest, Protocol).
		WithHint("`longterm hosts install %s` copies this version there", t)
}
