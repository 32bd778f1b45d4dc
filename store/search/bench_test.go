package search

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var benchMiB = flag.Int("mib", 32, "how much text benchmarks search, MiB")

// stream makes batches of one session after the other, as sessions print them: some
// lines with the same time, about 64 KiB at once.
type stream struct {
	gen     *generator
	offsets map[string]uint64
	clock   time.Time
	bytes   int // of text so far
	lines   int
}

func newStream(seed uint64) *stream {
	return &stream{gen: newGenerator(seed), offsets: map[string]uint64{}, clock: time.Unix(1_700_000_000, 0)}
}

func (s *stream) batch(session string, size int) Batch {
	b := Batch{Session: session}
	at := s.offsets[session]
	for n := 0; n < size; {
		for text := range strings.SplitSeq(s.gen.next(), "\n") {
			if s.lines++; s.lines%8 == 0 {
				s.clock = s.clock.Add(time.Duration(s.gen.rnd.Int64N(3e9)))
			}
			to := at + uint64(len(text)) + 2
			b.Lines = append(b.Lines, Line{From: at, To: to, Time: s.clock, Command: s.lines / 500, Text: text})
			at, n = to, n+len(text)
		}
	}
	for _, l := range b.Lines {
		s.bytes += len(l.Text)
	}
	s.offsets[session] = at
	return b
}

// benchIndex returns an index of -mib of text of 20 sessions, with one needle at its oldest end.
func benchIndex(b *testing.B) *Index {
	b.Helper()
	path := filepath.Join(b.TempDir(), "search.db")
	x, err := Open(path)
	must(b, err)
	b.Cleanup(func() { must(b, x.Close()) })
	ctx := context.Background()
	s := newStream(1)
	must(b, x.Add(ctx, Batch{Session: "s0", Lines: []Line{{From: 0, To: 5, Time: s.clock, Text: "the one NEEDLE in the haystack"}}}))
	s.offsets["s0"] = 5
	var spent time.Duration
	for i := 0; s.bytes < *benchMiB<<20; i++ {
		batch := s.batch(fmt.Sprint("s", i%20), 64<<10)
		start := time.Now()
		must(b, x.Add(ctx, batch))
		spent += time.Since(start)
	}
	_, err = x.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	must(b, err)
	st, err := os.Stat(path)
	must(b, err)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.Logf("%d MiB of text, %d lines: indexed at %.1f MB/s, index is %.1f %% of the text, %d MiB of memory in all", s.bytes>>20, s.lines,
		float64(s.bytes)/1e6/spent.Seconds(), 100*float64(st.Size())/float64(s.bytes), mem.Sys>>20)
	return x
}

func BenchmarkSearch(b *testing.B) {
	x := benchIndex(b)
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"common-first20", Query{Text: "error", Limit: 20}},
		{"rare-oldest", Query{Text: "NEEDLE in the hay"}},
		{"none", Query{Text: "undefined reference"}},
		{"none-hex", Query{Text: "E0425zq"}},
		{"hex-first20", Query{Text: "deadb", Limit: 20}},
		{"hex-all", Query{Text: "deadbee"}},
		{"address-first20", Query{Text: "10.1.77.", Limit: 20}},
		{"address-all", Query{Text: "10.1.77.201"}},
		{"cjk-first20", Query{Text: "接続失敗", Limit: 20}},
		{"word-first20", Query{Words: []string{"error"}, Limit: 20}},
		{"two-bytes-none", Query{Text: "~~"}},
		{"regexp-first20", Query{Regexp: `\.c:\d+:\d+: error`, Limit: 20}},
		{"regexp-none", Query{Regexp: `main\.go:\d+`}},
		{"regexp-nothing-fixed", Query{Regexp: `^\d{9}$`}},
		{"session-all", Query{Text: "deadbee", Session: "s7"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				n, start := 0, time.Now()
				for _, err := range x.Search(context.Background(), c.q) {
					if t := (*Truncated)(nil); err != nil && !isTruncated(err, &t) {
						b.Fatal(err)
					}
					if n++; n == 1 {
						b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms-to-first")
					}
				}
				b.ReportMetric(float64(n), "hits")
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, size := range []int{100, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			x, err := Open(filepath.Join(b.TempDir(), "search.db"))
			must(b, err)
			defer x.Close()
			s := newStream(1)
			var batches []Batch // made before the measurement
			for s.bytes < 16<<20 && len(batches) < 5000 {
				batches = append(batches, s.batch("s", size))
			}
			end := s.offsets["s"]
			b.SetBytes(int64(s.bytes / len(batches)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				must(b, x.Add(context.Background(), batches[i]))
				for k := range batches[i].Lines { // for the next round
					batches[i].Lines[k].From += end
					batches[i].Lines[k].To += end
				}
				i = (i + 1) % len(batches)
			}
		})
	}
}
