package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds a line of a recording, in bytes.
const maxLine = 64 << 20

// ErrFormat is returned for a file that is not a recording.
var ErrFormat = errors.New("not an asciicast recording")

// Event is an event of a recording.
type Event struct {
	At   time.Duration // since the beginning
	Code string        // o, i, r, m, x, or a code of later versions
	Data string
}

// Size returns the size in a resize event.
func (e *Event) Size() (cols, rows int, ok bool) {
	c, r, ok := strings.Cut(e.Data, "x")
	cols, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	return cols, rows, ok && errC == nil && errR == nil && cols > 0 && rows > 0
}

// Reader reads a recording of version 2 or 3.
type Reader struct {
	Header Header
	sc     *bufio.Scanner
	line   int
	at     time.Duration
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	c := &Reader{sc: bufio.NewScanner(r)}
	c.sc.Buffer(nil, maxLine)
	line, err := c.next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: empty file", ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	var two header2
	var three header3
	if json.Unmarshal(line, &two) != nil || json.Unmarshal(line, &three) != nil {
		return nil, fmt.Errorf("%w: no header in line 1", ErrFormat)
	}
	c.Header = Header{Version: two.Version, Cols: two.Width, Rows: two.Height, Command: two.Command, Title: two.Title, Env: two.Env}
	switch two.Version {
	case V2:
	case V3:
		c.Header.Cols, c.Header.Rows = three.Term.Cols, three.Term.Rows
	default:
		return nil, fmt.Errorf("%w: version %d; 2 and 3 are understood", ErrFormat, two.Version)
	}
	if c.Header.Cols < 1 || c.Header.Rows < 1 {
		return nil, fmt.Errorf("%w: invalid size %d×%d", ErrFormat, c.Header.Cols, c.Header.Rows)
	}
	if two.Timestamp > 0 {
		c.Header.Started = time.Unix(two.Timestamp, 0)
	}
	return c, nil
}

// next returns the next line with content; comments (version 3) are skipped.
func (c *Reader) next() ([]byte, error) {
	for c.sc.Scan() {
		c.line++
		line := bytes.TrimSpace(c.sc.Bytes())
		if len(line) > 0 && line[0] != '#' {
			return line, nil
		}
	}
	if err := c.sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", c.line+1, err)
	}
	return nil, io.EOF
}

// Next returns the next event, or io.EOF after the last one.
func (c *Reader) Next() (Event, error) {
	line, err := c.next()
	if err != nil {
		return Event{}, err
	}
	var fields []json.RawMessage
	var seconds float64
	var e Event
	if json.Unmarshal(line, &fields) != nil || len(fields) < 3 ||
		json.Unmarshal(fields[0], &seconds) != nil || json.Unmarshal(fields[1], &e.Code) != nil || json.Unmarshal(fields[2], &e.Data) != nil {
		return e, fmt.Errorf("%w: invalid event in line %d", ErrFormat, c.line)
	}
	if !(seconds >= 0 && seconds < 1e9) {
		return e, fmt.Errorf("%w: invalid time in line %d (%g)", ErrFormat, c.line, seconds)
	}
	d := time.Duration(seconds * float64(time.Second))
	if c.Header.Version == V3 {
		d += c.at
	}
	c.at = max(c.at, d)
	e.At = c.at
	return e, nil
}
