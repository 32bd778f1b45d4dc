//go:build unix

package client

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
)

// readEvents reads a stream of server-sent events (WHATWG HTML §9.2) and calls f with the data of each.
func readEvents(r io.Reader, f func(data []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	var data []byte
	for sc.Scan() {
		line := sc.Bytes()
		switch {
		case len(line) == 0 && len(data) > 0:
			if err := f(data); err != nil {
				return err
			}
			data = data[:0]
		case bytes.HasPrefix(line, []byte("data:")):
			data = append(data, bytes.TrimPrefix(line[5:], []byte(" "))...)
		}
	}
	return sc.Err()
}

// lastLine returns the last message of longterm in a log, or "".
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > 8192 {
		_, _ = f.Seek(-8192, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "longterm:") {
			return strings.TrimPrefix(lines[i], "longterm: ")
		}
	}
	return ""
}
