package api

import (
	"fmt"
	"strconv"
	"strings"
)

// The streams of a raw response are in a header: out=12,err=40.

// streamShort maps streams to their names in the header.
var streamShort = map[string]string{"stdout": "out", "stderr": "err", "merged": "all"}

// streamLong maps names in the header to streams.
var streamLong = map[string]string{"out": "stdout", "err": "stderr", "all": "merged"}

// FormatStreams returns runs as a header.
func FormatStreams(runs []StreamRun) string {
	var b strings.Builder
	for i, r := range runs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(streamShort[r.Stream])
		b.WriteByte('=')
		b.WriteString(strconv.Itoa(r.Bytes))
	}
	return b.String()
}

// ParseStreams parses a header of n bytes of output.
func ParseStreams(s string, n int) ([]StreamRun, error) {
	if s == "" {
		return nil, nil
	}
	var runs []StreamRun
	for f := range strings.SplitSeq(s, ",") {
		short, num, _ := strings.Cut(f, "=")
		bytes, err := strconv.Atoi(num)
		long, ok := streamLong[short]
		if err != nil || !ok || bytes <= 0 || bytes > n {
			return nil, fmt.Errorf("streams of output: %q", f)
		}
		runs, n = append(runs, StreamRun{long, bytes}), n-bytes
	}
	if n != 0 {
		return nil, fmt.Errorf("streams of output: %d bytes without a stream", n)
	}
	return runs, nil
}
