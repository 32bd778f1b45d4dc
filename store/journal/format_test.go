package journal

import (
	"encoding/hex"
	"errors"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The format is a promise to journals that exist: these bytes never change.
func TestGoldenBytes(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	var m model
	fill(t, j, &m)
	b, err := os.ReadFile(filepath.Join(dir, "00000000000000000000.ltj"))
	must(t, err)
	golden := filepath.Join("testdata", "segment.hex")
	if *update {
		must(t, os.WriteFile(golden, []byte(hex.Dump(b)), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got := hex.Dump(b); got != string(want) {
		t.Errorf("segment is\n%s\nwant\n%s", got, want)
	}
	equal(t, entries(t, open(t, dir, testOptions()), 0), m.all)
}

func TestSegmentNames(t *testing.T) {
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
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	must(t, j.AppendOutput([]byte("abc")))
	must(t, j.append(200, []byte("from the future"), 0))
	must(t, j.AppendOutput([]byte("def")))
	must(t, j.append(201, []byte("compressed output, say"), 500))
	must(t, j.AppendOutput([]byte("ghi")))
	must(t, j.append(KindResize, []byte{1}, 0)) // a form that is not known
	want := []entry{
		{Kind: KindOutput, Offset: 0, Data: "abc"},
		{Kind: KindOutput, Offset: 3, Data: "def"},
		{Kind: KindGap, Offset: 6, Lost: 500},
		{Kind: KindOutput, Offset: 506, Data: "ghi"},
	}
	equal(t, entries(t, open(t, dir, testOptions()), 0), want)
}

func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	h := appendHeader(nil, header{length: headerSize, id: 1})
	h[8] = 2
	le.PutUint32(h[44:], crc32.Checksum(h[:44], castagnoli))
	must(t, os.WriteFile(filepath.Join(dir, segmentName(0)), h, 0o600))
	_, _, err := Open(dir, testOptions())
	if !errors.Is(err, ErrNewer) {
		t.Errorf("error %v", err)
	}
}
