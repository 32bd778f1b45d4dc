package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// TestStreamsMark checks that the bytes of marks are pinned: journals are read for years.
func TestStreamsMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    Streams
		want []byte
	}{
		{Streams{Unknown: true}, []byte{3, 1}},
		{Streams{Runs: []StreamRun{{Stdout, 1}}}, []byte{3, 0, 2}},
		{Streams{Runs: []StreamRun{{Stderr, 5}, {Stdout, 300}}}, []byte{3, 0, 11, 0xd8, 4}},
	} {
		b := c.s.AppendTo(nil)
		if !bytes.Equal(b, c.want) {
			t.Errorf("%+v: % x, want % x", c.s, b, c.want)
		}
		if got, err := DecodeStreams(b); err != nil || !reflect.DeepEqual(got, c.s) {
			t.Errorf("%+v became %+v, %v", c.s, got, err)
		}
	}
	half := binary.AppendUvarint(nil, uint64(maxOffset/2+1)<<1)
	for _, b := range [][]byte{slices.Concat([]byte{3, 0}, half, half), nil, {3}, {1, 0, 2}, {3, 0}, {3, 1, 2}, {3, 0, 1}, {3, 0, 0x80}} {
		if _, err := DecodeStreams(b); !errors.Is(err, ErrMark) {
			t.Errorf("% x: %v", b, err)
		}
	}
}

func FuzzStreamsMark(f *testing.F) {
	f.Add([]byte{3, 0, 11, 0xd8, 4})
	f.Add([]byte{3, 1})
	f.Add(append([]byte{3, 0}, bytes.Repeat([]byte{0xff}, 20)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeStreams(b)
		if err != nil {
			return
		}
		if again, err := DecodeStreams(s.AppendTo(nil)); err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}
