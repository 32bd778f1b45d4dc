package program

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
)

// TestMemoryFile_ReadsWhatWasWritten checks that a file in memory returns the written bytes.
// FEATURES: R87
func TestMemoryFile_ReadsWhatWasWritten(t *testing.T) {
	m := newMemoryFS()
	f, err := m.OpenFile("d/a.seg", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var model []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		switch at := rng.IntN(len(model) + 1); rng.IntN(5) {
		case 0:
			if err := f.Truncate(int64(at)); err != nil {
				t.Fatal(err)
			}
			model = model[:at]
		case 1, 2:
			p := bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(100_000))
			if n, err := f.WriteAt(p, int64(at)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			model = append(model[:at], append(p, model[min(at+len(p), len(model)):]...)...)
		default:
			p := make([]byte, rng.IntN(200_000))
			n, err := f.ReadAt(p, int64(at))
			if want := min(len(p), len(model)-at); n != want || (err == io.EOF) != (n < len(p)) || !bytes.Equal(p[:n], model[at:at+n]) {
				t.Fatalf("read of %d bytes of %d at %d: got %d, %v", len(p), len(model), at, n, err)
			}
		}
	}
	st, err := f.Stat()
	if err != nil || st.Size() != int64(len(model)) {
		t.Errorf("%v, %v", st, err)
	}
}

// FEATURES: R87
func TestMemoryFS_Names(t *testing.T) {
	m := newMemoryFS()
	for _, name := range []string{"d/b.seg", "d/a.seg"} {
		if _, err := m.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Rename("d/b.seg", "d/c.seg"); err != nil {
		t.Error(err)
	}
	if err := m.Remove("d/a.seg"); err != nil {
		t.Error(err)
	}
	all, err := m.ReadDir("d")
	if err != nil || len(all) != 1 || all[0].Name() != "c.seg" {
		t.Errorf("%v, %v", all, err)
	}
	_, openErr := m.OpenFile("d/a.seg", os.O_RDONLY, 0)
	for _, err := range []error{openErr, m.Remove("d/a.seg"), m.Rename("d/a.seg", "d/b.seg")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
