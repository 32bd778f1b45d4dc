package search

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestBlockRoundTrip(t *testing.T) {
	for name, lines := range map[string][]Line{
		"one":     {{From: 5, To: 6, Time: time.Unix(0, 7), Command: 3, Text: "x"}},
		"extreme": {{From: 0, To: 1 << 62, Time: time.Unix(0, math.MaxInt64), Command: math.MaxInt32, Text: "a"}, {From: 1 << 62, To: 1<<62 + 1, Time: time.Unix(0, math.MinInt64), Command: -1, Text: ""}},
		"many":    lines(1000, "a", "", "bcd", strings.Repeat("é", 900), "\x00", "z"),
	} {
		var b, got block
		for _, l := range lines {
			b.add(l, l.Text)
		}
		raw, err := unpack(nil, pack(nil, appendBlock(nil, &b)))
		must(t, err)
		must(t, decodeBlock(&got, raw))
		if !reflect.DeepEqual(got, b) {
			t.Errorf("%s: %+v becomes %+v", name, b, got)
		}
		for i, l := range lines {
			if string(got.line(i)) != l.Text {
				t.Errorf("%s: line %d is %q", name, i, got.line(i))
			}
		}
	}
}

// TestBlockGolden checks that the format is that of doc.go: older indexes must stay readable.
func TestBlockGolden(t *testing.T) {
	var b block
	b.add(Line{From: 300, To: 303, Time: time.Unix(0, 5), Command: 1, Text: "ab"}, "ab")
	b.add(Line{From: 304, To: 306, Time: time.Unix(0, 4), Command: 1, Text: "c"}, "c")
	want := "\x01\x02\x04ab\nc" + "\x02\x01" + "\xac\x02\x01" + "\x02\x02" + "\x0a\x01" + "\x02\x00"
	if got := appendBlock(nil, &b); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUnpackDamaged(t *testing.T) {
	var b block
	b.add(Line{To: 1}, strings.Repeat("text ", 100))
	packed := pack(nil, appendBlock(nil, &b))
	for i := range packed {
		bad := bytes.Clone(packed)
		bad[i] ^= 0x10
		if raw, err := unpack(nil, bad); err == nil && !bytes.Equal(raw, appendBlock(nil, &b)) {
			t.Errorf("byte %d: damage is not noticed", i)
		} else if err != nil && !errors.Is(err, errBlock) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	bomb := pack(nil, make([]byte, 2*maxBlock))
	if _, err := unpack(nil, bomb); !errors.Is(err, errBlock) {
		t.Errorf("too large: %v", err)
	}
}

func FuzzBlock(f *testing.F) {
	var b block
	for _, l := range lines(9, "a", "", "bcd", "日本") {
		b.add(l, l.Text)
	}
	f.Add(appendBlock(nil, &b))
	f.Add([]byte{blockFormat, 0})
	f.Add([]byte{blockFormat, 1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{blockFormat, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, src []byte) {
		_, _ = unpack(nil, src) // ends, and does not panic
		var b, again block
		if err := decodeBlock(&b, src); err != nil {
			if !errors.Is(err, errBlock) {
				t.Fatal(err)
			}
			return
		}
		size := max(len(b.lines)-1, 0)
		for i := range b.lines {
			size += len(b.line(i))
		}
		if size != len(b.text) {
			t.Fatalf("lines have %d bytes of %d", size, len(b.text))
		}
		must(t, decodeBlock(&again, appendBlock(nil, &b)))
		if !reflect.DeepEqual(again, b) {
			t.Errorf("%+v becomes %+v", b, again)
		}
		p, err := newPlan(Query{Text: "a", Regexp: "b|.$"})
		must(t, err)
		s := new(scanner)
		s.mayMatch(p, b.text)
		s.scan(p, &b, func(i int, _ []Range) { _ = b.lines[i] })
		new(gramSet).trigrams(&b)
	})
}
