package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGoldenBytes checks that the format of existing journals, given as bytes, stays the same.
func TestGoldenBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	var m model
	fill(t, j, &m)
	b, err := os.ReadFile(filepath.Join(dir, "00000000000000000000.ltj"))
	must(t, err)
	if *update {
		must(t, os.WriteFile(filepath.Join("testdata", "v2.hex"), []byte(hex.Dump(b)), 0o644))
	}
	if want := golden(t, "v2.hex"); !bytes.Equal(b, want) {
		t.Errorf("segment is\n%s\nwant\n%s", hex.Dump(b), hex.Dump(want))
	}
	equal(t, entries(t, open(t, dir, testOptions()), 0), m.all)
}

// TestGoldenBlocks reads a segment of an earlier build: a dense block and one written while appending. Encoders may
// change, so only reading is pinned.
func TestGoldenBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	var m model
	for range 120 {
		fill(t, j, &m)
	}
	_, err := j.Compact(t.Context())
	must(t, err)
	long := strings.Repeat("compressible ", 1000)
	must(t, j.AppendOutput([]byte(long)))
	m.output(long)
	if *update {
		b, err := os.ReadFile(j.path(0))
		must(t, err)
		must(t, os.WriteFile(filepath.Join("testdata", "blocks.hex"), []byte(hex.Dump(b)), 0o644))
	}
	old := golden(t, "blocks.hex")
	h, err := decodeHeader(old)
	if must(t, err); h.dense == 0 || h.version != 2 {
		t.Errorf("header %+v", h)
	}
	equal(t, entries(t, open(t, lay(t, old), testOptions()), 0), m.all)
}

// golden is a file of testdata in the form that hexdump -C writes.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	dump, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	var all []byte
	for line := range strings.Lines(string(dump)) {
		digits := strings.ReplaceAll(line[8:min(59, len(line))], " ", "")
		b, err := hex.DecodeString(strings.TrimSpace(digits))
		must(t, err)
		all = append(all, b...)
	}
	return all
}

// TestVersion1 checks that journals of earlier versions are read as before, and appended to in their format.
func TestVersion1(t *testing.T) {
	t.Parallel()
	v1 := golden(t, "v1.hex")
	dir := lay(t, v1)
	j := open(t, dir, testOptions())
	var m model
	fill(t, open(t, t.TempDir(), testOptions()), &m)
	equal(t, entries(t, j, 0), m.all)
	m.end = j.End()
	long := strings.Repeat("compressible ", 1000)
	must(t, j.AppendOutput([]byte(long)))
	m.output(long)
	equal(t, entries(t, open(t, dir, testOptions()), 0), m.all)
	b, err := os.ReadFile(j.path(0))
	must(t, err)
	if want := len(v1) + recordHead + len(long) + recordTail; len(b) != want || b[8] != 1 {
		t.Errorf("%d bytes of version %d, want %d of version 1, without blocks", len(b), b[8], want)
	}
	if cols, rows, err := j.SizeAt(0); cols != 80 || rows != 24 || err != nil {
		t.Errorf("size %d×%d %v", cols, rows, err)
	}
	more := strings.Repeat("more ", 2000)
	must(t, j.AppendOutput([]byte(more)))
	m.output(more)
	c, err := j.Compact(t.Context()) // makes it one of this version
	must(t, err)
	if b, err = os.ReadFile(j.path(0)); err != nil || c.Segments != 1 || b[8] != version {
		t.Errorf("%+v, version %d %v", c, b[8], err)
	}
	equal(t, entries(t, open(t, dir, testOptions()), 0), m.all)
}

func TestSegmentNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		base uint64
		ok   bool
	}{
		"00000000000000000000.ltj":         {0, true},
		"00000000000067108864.ltj":         {67108864, true},
		"0.ltj":                            {},
		"0000000000006710886x.ltj":         {},
		"-0000000000067108864.ltj":         {},
		"+0000000000067108864.ltj":         {},
		"99999999999999999999.ltj":         {},
		"18446744073709551615.ltj":         {},
		"00000000000000000000.ltj.damaged": {},
	} {
		base, ok := segmentBase(name)
		if base != want.base || ok != want.ok {
			t.Errorf("%s: %d %v, want %v", name, base, ok, want)
		}
		if ok && segmentName(base) != name {
			t.Errorf("%s is written %s", name, segmentName(base))
		}
	}
}

func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	must(t, j.AppendOutput([]byte("abc")))
	must(t, j.append(200, []byte("from the future"), 0))
	must(t, j.AppendOutput([]byte("def")))
	must(t, j.append(201, []byte("compressed output, say"), 500))
	must(t, j.AppendOutput([]byte("ghi")))
	must(t, j.append(KindResize, []byte{1}, 0)) // an unknown form
	want := []entry{
		{Kind: KindOutput, Offset: 0, Data: "abc"},
		{Kind: KindOutput, Offset: 3, Data: "def"},
		{Kind: KindGap, Offset: 6, Lost: 500},
		{Kind: KindOutput, Offset: 506, Data: "ghi"},
	}
	equal(t, entries(t, open(t, dir, testOptions()), 0), want)
}

func TestNewerFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := appendHeader(nil, header{version: version + 1, length: headerSize, id: 1})
	must(t, os.WriteFile(filepath.Join(dir, segmentName(0)), h, 0o600))
	_, _, err := Open(dir, testOptions())
	if !errors.Is(err, ErrNewer) {
		t.Errorf("error %v", err)
	}
}
