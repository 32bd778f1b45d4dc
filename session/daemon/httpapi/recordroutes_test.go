//go:build unix

package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// reading is a history that is read in pieces, as Session.Redact does: each with the output around it.
type reading struct {
	all   []byte
	set   *redact.Set
	calls int
	most  int // bytes at once
}

func (r *reading) mask(at uint64, data []byte) {
	r.calls++
	r.most = max(r.most, len(data))
	from, to := int(at)-min(int(at), redact.ContextBytes), min(len(r.all), int(at)+len(data)+redact.ContextBytes)
	around := bytes.Clone(r.all[from:to])
	r.set.Redact(around, uint64(from), int(at)-from, int(at)-from+len(data))
	copy(data, around[int(at)-from:])
}

func (r *reading) streams(rec *api.Record) ([]api.StreamRun, error) {
	if len(rec.Data) == 0 {
		return nil, nil
	}
	return []api.StreamRun{{Bytes: len(rec.Data)}}, nil
}

// parts are the building blocks of histories in tests.
var parts = []string{
	"y\r\n", "y\r\n", "hunter22", "hunt", "er22", "\r", "\b", "\x1b[K", "\x1b[31m", "\x1b[3D", "日本", "é", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "\x1b]0;t\x07", "x", " ", "\\", "\x1b[", "\xe7",
	strings.Repeat("word ", 300), strings.Repeat("y\r\n", 3000),
}

// TestRecordsTogether checks that records that are masked and written together equal those that are masked one by one,
// wherever output is cut, with any number of sizes, gaps and ends between them.
//
// FEATURES: R110
func TestRecordsTogether(t *testing.T) {
	tier.Full(t)
	vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault.Learn("hunter22")
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		one, all := &reading{set: vault.Set()}, &reading{set: vault.Set()}
		most := []int{300, 4000, 200 << 10}[seed%3]
		for len(one.all) < min(300<<10, 20*most) {
			one.all = append(one.all, parts[rnd.IntN(len(parts)-rnd.IntN(3))]...)
		}
		all.all = one.all
		var alone, together bytes.Buffer
		enc, b := json.NewEncoder(&alone), newBatch(&together, all)
		for at := 0; at < len(one.all); {
			data := one.all[at:min(len(one.all), at+1+rnd.IntN(most))]
			rec := api.Record{Kind: "output", Offset: uint64(at)}
			at += len(data)
			if err := b.add(rec, data); err != nil {
				t.Fatal(err)
			}
			rec.Data = bytes.Clone(data)
			one.mask(rec.Offset, rec.Data)
			rec.Streams, _ = one.streams(&rec)
			list := []api.Record{rec}
			switch rnd.IntN(50) {
			case 0:
				list = append(list, api.Record{Kind: "resize", Offset: uint64(at), Cols: 80, Rows: 24})
			case 1: // the next part does not continue it
				list = append(list, api.Record{Kind: "gap", Offset: uint64(at), Lost: 100})
				at += 100
			}
			for i := range list {
				if err := enc.Encode(list[i]); err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					if err := b.add(list[i], nil); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := b.flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(alone.Bytes(), together.Bytes()) {
			t.Errorf("seed %d: other bytes", seed)
		}
		if all.most > max(batchBytes, most) || most == 4000 && all.calls > one.calls/3 {
			t.Errorf("seed %d: %d times %d bytes at most, alone %d times", seed, all.calls, all.most, one.calls)
		}
	}
}

// BenchmarkShortRecords measures the reading of a history of short lines, which is read in large pieces.
func BenchmarkShortRecords(b *testing.B) {
	vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := &reading{all: bytes.Repeat([]byte("y\r\n"), 300<<10), set: vault.Set()}
	b.SetBytes(int64(len(r.all)))
	for b.Loop() {
		out := newBatch(io.Discard, r)
		for at := 0; at < len(r.all); at += 3300 {
			if err := out.add(api.Record{Kind: "output", Offset: uint64(at)}, r.all[at:min(len(r.all), at+3300)]); err != nil {
				b.Fatal(err)
			}
		}
		if err := out.flush(); err != nil {
			b.Fatal(err)
		}
	}
}
