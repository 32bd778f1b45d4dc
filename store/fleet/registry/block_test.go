package registry

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// read reads a packed block.
func read(packed []byte) (block, error) {
	raw, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	b := block{}
	return b, records(raw, func(name, value []byte) { b[string(name)] = value })
}

// FEATURES: R94
func TestBlocks(t *testing.T) {
	for _, b := range []block{
		{}, {"a": nil}, {"a": []byte("1"), "b": []byte(strings.Repeat("x", 1000)), "c": {}},
	} {
		got, err := read(pack(b.raw()))
		if err != nil || !maps.EqualFunc(got, b, bytes.Equal) {
			t.Errorf("%v: %v, %v", b, got, err)
		}
	}
	for name, packed := range map[string][]byte{
		"nothing": nil, "another format": {9, 1, 2}, "no frame": {blockFormat, 1, 2, 3}, "what JetStream answers": []byte(`{"stream":"KV","seq":7}`),
		"more than anybody has": pack(make([]byte, maxBlock+1)), "a name without a value": pack([]byte{1, 'a'}),
		"a value that is not all there": pack([]byte{1, 'a', 5, 'b'}), "no name": pack([]byte{0, 1, 'b'}),
		"more records than anybody has": pack(bytes.Repeat([]byte{1, 'a', 0}, maxRecords+1)),
	} {
		if got, err := read(packed); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FEATURES: R94
func FuzzBlock(f *testing.F) {
	f.Add(pack(block{"a": []byte("1"), "bc": []byte("23")}.raw()))
	f.Add([]byte{blockFormat})
	f.Fuzz(func(t *testing.T, packed []byte) {
		b, err := read(packed)
		if err != nil {
			return
		}
		again, err := read(pack(b.raw()))
		if err != nil || !maps.EqualFunc(again, b, bytes.Equal) {
			t.Errorf("%v, %v, %v", b, again, err)
		}
	})
}

// TestView_MatchesRecords checks that a viewer sees a host's records, however they arrived: in blocks, moved between
// them, from a restarted host, or from one of an older version.
//
// FEATURES: R94
func TestView_MatchesRecords(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := NewPublisher(nil, "h")
		registry, has := map[string][]byte{}, map[string]string{} // by key, as sent to a viewer
		v := view{}
		tell := func(key, record string, packed []byte) {
			k := keyValue{key: key, host: "h", record: record, deleted: packed == nil, value: packed}
			if packed != nil && isBlock(record) {
				var err error
				k.value, err = unpack(packed)
				k.corrupt = err != nil
			}
			v.apply(&k, func(e Entry) {
				if e.Removed {
					delete(has, e.Record)
				} else {
					has[e.Record] = string(e.Value)
				}
			})
		}
		flush := func() {
			values := map[string][]byte{}
			for key := range p.dirty {
				values[key] = p.desiredValue(key)
			}
			clear(p.dirty)
			for _, key := range p.publishOrder(values) {
				packed := values[key]
				if packed == nil {
					delete(registry, key)
				} else {
					packed = pack(packed)
					registry[key] = packed
				}
				tell(key, strings.TrimPrefix(key, "r.h."), packed)
			}
		}
		want := map[string]string{}
		for i := range 20 { // of an older version
			name := fmt.Sprint("s", i)
			tell("r.h."+name, name, []byte("old"))
		}
		for step := range 400 {
			name := fmt.Sprint("s", r.IntN(150))
			switch r.IntN(10) {
			case 0:
				p.Remove(name)
				delete(want, name)
			case 1:
				big := strings.Repeat("x", r.IntN(2*blockBytes))
				p.Set(name, []byte(big))
				want[name] = big
			case 2:
				if r.IntN(20) > 0 {
					break
				}
				flush() // flush and restart: with other blocks, some of them unchanged
				p = NewPublisher(nil, "h")
				for _, name := range slices.Sorted(maps.Keys(want)) {
					p.Set(name, []byte(want[name]))
				}
				for key := range registry {
					p.dirty[key] = true
				}
			default:
				value := fmt.Sprint(step)
				p.Set(name, []byte(value))
				want[name] = value
			}
			if r.IntN(5) == 0 {
				flush()
			}
		}
		flush()
		for i := range 20 {
			name := fmt.Sprint("s", i)
			tell("r.h."+name, name, nil)
		}
		if !maps.Equal(has, want) {
			t.Fatalf("seed %d: %d records, not %d", seed, len(has), len(want))
		}
		for _, b := range p.blocks {
			if len(b) > blockRecords || len(b) > 1 && b.size() > blockBytes {
				t.Errorf("a block of %d records has %d bytes", len(b), b.size())
			}
		}
		if most := len(want)/blockRecords + len(want)/8 + 5; len(p.blocks) > 4*most {
			t.Errorf("%d blocks of %d records", len(p.blocks), len(want))
		}
	}
}

// TestSettling checks that all existing records are sent before the marker of their end, also while keys change.
//
// FEATURES: R94
func TestSettling(t *testing.T) {
	for name, c := range map[string]struct {
		waiting []int // after each value; -1: the marker
		want    int   // how many of them until it is done
	}{
		"nothing is there":  {[]int{-1}, 1},
		"nothing changes":   {[]int{2, 1, 0, -1, 0, 0}, 4},
		"some have changed": {[]int{4, 3, 2, 2, -1, 1, 0, 0}, 7},
	} {
		var s initialSync
		done := 0
		for i, n := range c.waiting {
			if n < 0 && s.handleMarker() || n >= 0 && s.observe(uint64(n)) {
				if done != 0 {
					t.Errorf("%s: twice", name)
				}
				done = i + 1
			}
		}
		if done != c.want {
			t.Errorf("%s: after %d, not %d", name, done, c.want)
		}
	}
	var s initialSync // always more
	s.observe(5)
	s.handleMarker()
	for n := 1; ; n++ {
		if s.observe(5) {
			if n != 10+syncMargin {
				t.Errorf("after %d", n)
			}
			break
		}
	}
}
