package checkpoint

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"testing"
	"time"
)

var sample = Checkpoint{Engine: "native", Offset: 0x0102030405, Time: time.Unix(1, 2), Snapshot: []byte("state")}

// FEATURES: R93
func TestGoldenBytes(t *testing.T) {
	const want = "4c54434b5054310a" + "0cb0376f" + "06000000" + "6e6174697665" +
		"0504030201000000" + "02ca9a3b00000000" + "7374617465"
	if got := hex.EncodeToString(Encode(sample)); got != want {
		t.Errorf("format changed:\n got %s\nwant %s", got, want)
	}
}

func TestWriteRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no checkpoint: %v", err)
	}
	if err := Write(dir, sample); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || got.Engine != sample.Engine || got.Offset != sample.Offset ||
		!got.Time.Equal(sample.Time) || !bytes.Equal(got.Snapshot, sample.Snapshot) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	good := Encode(sample)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := Decode(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if _, err := Decode(good[:i]); !errors.Is(err, ErrInvalid) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(sample))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := Decode(b); err == nil && !bytes.Equal(Encode(c), b) {
			t.Error("decoded to something that encodes differently")
		}
	})
}
