package journal

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{64, 4 << 10, 64 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			j := open(b, b.TempDir(), Options{})
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				must(b, j.AppendOutput(p))
				if j.End() > 1<<30 {
					must(b, j.DropBefore(j.End()))
				}
			}
		})
	}
}

// BenchmarkAppendBuildLog appends a flood in pieces of 64 KiB, raw and compressed.
func BenchmarkAppendBuildLog(b *testing.B) {
	raw := buildLog(rand.New(rand.NewPCG(1, 1)), 8<<20)
	for _, plain := range []bool{true, false} {
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			j := open(b, b.TempDir(), Options{Plain: plain})
			b.SetBytes(64 << 10)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i << 16 % len(raw)
				must(b, j.AppendOutput(raw[at:at+64<<10]))
				if j.End() > 1<<30 {
					must(b, j.DropBefore(j.End()))
				}
			}
		})
	}
}

// BenchmarkCompact rewrites a build log of 16 MiB and reports which part of it is left.
func BenchmarkCompact(b *testing.B) {
	raw := buildLog(rand.New(rand.NewPCG(1, 1)), 16<<20)
	for _, size := range []int{64 << 10, 4 << 10, 512} {
		b.Run(fmt.Sprintf("chunks=%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			var ratio float64
			for b.Loop() {
				b.StopTimer()
				j := open(b, b.TempDir(), Options{})
				for p := range chunked(raw, size) {
					must(b, j.AppendOutput(p))
				}
				b.StartTimer()
				_, err := j.Compact(b.Context())
				must(b, err)
				ratio = float64(j.size) / float64(len(raw))
			}
			b.ReportMetric(100*ratio, "%size")
		})
	}
}

// BenchmarkCompacted reads a compacted build log of 64 MiB.
func BenchmarkCompacted(b *testing.B) {
	raw := buildLog(rand.New(rand.NewPCG(1, 1)), 64<<20)
	j := open(b, b.TempDir(), Options{})
	for p := range chunked(raw, 4096) {
		must(b, j.AppendOutput(p))
	}
	_, err := j.Compact(b.Context())
	must(b, err)
	for _, size := range []int{100, 4 << 10, 64 << 10} {
		dst := make([]byte, size)
		b.Run(fmt.Sprintf("random/%dB", size), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 1))
			b.SetBytes(int64(size))
			for b.Loop() {
				_, _, _, err := j.ReadAt(rnd.Uint64N(j.End()-uint64(size)), dst)
				must(b, err)
			}
		})
		b.Run(fmt.Sprintf("sequential/%dB", size), func(b *testing.B) {
			var off uint64
			b.SetBytes(int64(size))
			for b.Loop() {
				_, next, _, err := j.ReadAt(off, dst)
				must(b, err)
				if off = next; off == j.End() {
					off = 0
				}
			}
		})
	}
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			scan(b, j)
		}
	})
}

func scan(b *testing.B, j *Journal) {
	r := j.NewReader(0)
	for {
		if _, err := r.Next(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// benchJournal holds size bytes in records of 4 KiB.
func benchJournal(b *testing.B, dir string, size int) *Journal {
	b.Helper()
	j := open(b, dir, Options{})
	p := make([]byte, 4096)
	for j.End() < uint64(size) {
		must(b, j.AppendOutput(p))
	}
	return j
}

// BenchmarkOpen measures the cost of a daemon's restart for each session.
func BenchmarkOpen(b *testing.B) {
	const count = 20
	dir := b.TempDir()
	for i := range count {
		must(b, benchJournal(b, filepath.Join(dir, fmt.Sprint(i)), 10<<20).Close())
	}
	i := 0
	for b.Loop() {
		i++
		j, _, err := Open(filepath.Join(dir, fmt.Sprint(i%count)), Options{})
		must(b, err)
		must(b, j.Close())
	}
}

func BenchmarkReadAt(b *testing.B) {
	j := benchJournal(b, b.TempDir(), 200<<20)
	for _, size := range []int{100, 4 << 10, 64 << 10} {
		dst := make([]byte, size)
		b.Run(fmt.Sprintf("random/%dB", size), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 1))
			b.SetBytes(int64(size))
			for b.Loop() {
				_, _, _, err := j.ReadAt(rnd.Uint64N(j.End()-uint64(size)), dst)
				must(b, err)
			}
		})
		b.Run(fmt.Sprintf("sequential/%dB", size), func(b *testing.B) {
			var off uint64
			b.SetBytes(int64(size))
			for b.Loop() {
				_, next, _, err := j.ReadAt(off, dst)
				must(b, err)
				if off = next; off == j.End() {
					off = 0
				}
			}
		})
	}
}

// BenchmarkReplay measures the reads of a screen's rebuild.
func BenchmarkReplay(b *testing.B) {
	j := benchJournal(b, b.TempDir(), 64<<20)
	b.SetBytes(int64(j.End()))
	for b.Loop() {
		scan(b, j)
	}
}
