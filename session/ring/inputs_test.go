package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// testDevice is a terminal into which the test types as the kernel does: from a file, whose position moves.
type testDevice struct {
	t      *testing.T
	typed  []byte
	room   int  // bytes it takes at a time
	noFile bool // it types nothing out of files
	killed string
}

// killPanic simulates the kill of the process that types.
type killPanic struct{}

// at panics if the test kills the process at this point.
func (k *testDevice) at(point string) {
	if k.killed == point {
		k.killed = ""
		panic(killPanic{})
	}
}

func (k *testDevice) TypePiece(f *os.File, p []byte, _ bool) (int, error) {
	if k.noFile && f != nil {
		return 0, ErrNoSendFile
	}
	k.at("before")
	n := min(k.room, len(p))
	if f != nil {
		at, err := f.Seek(int64(n), io.SeekCurrent)
		b := make([]byte, n)
		if _, rerr := f.ReadAt(b, at-int64(n)); err != nil || rerr != nil || !bytes.Equal(b, p[:n]) {
			k.t.Fatalf("file: got %q, want %q: %v", b, p[:n], errors.Join(err, rerr))
		}
	}
	k.typed = append(k.typed, p[:n]...)
	k.at("after")
	return n, nil
}

// nextReader returns the inputs of the next reader of a ring.
func nextReader(t testing.TB, f *os.File, keep bool) *Inputs {
	t.Helper()
	r, err := Map(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.file = nil; _ = r.Close() })
	if keep {
		r.file = f // of many readers of this process
	}
	return r.Inputs()
}

// runUntilKilled runs f and reports whether it was killed.
func runUntilKilled(f func()) (killed bool) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case killPanic:
			killed = true
		default:
			panic(p)
		}
	}()
	f()
	return false
}

// sharedRing returns the file of a new ring.
func sharedRing(t testing.TB) *os.File {
	t.Helper()
	r, f, err := Create(MinSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = f.Close() })
	return f
}

// TestInputs_SurviveKills checks that input is typed once and completely, wherever its reader and later readers are
// killed: the typed part is known exactly.
// FEATURES: R90
func TestInputs_SurviveKills(t *testing.T) {
	if !canTypeFromFiles {
		t.Skip("terminals are not typed into out of files here")
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), MaxPiece/6) // two pieces and some
	for _, room := range []int{1 << 20, MaxPiece, 1000, 7} {
		for _, kills := range [][]string{{"before"}, {"after"}, {"before", "before"}, {"after", "after"}, {"after", "before", "after"}} {
			f := sharedRing(t)
			k := &testDevice{t: t, room: room}
			for n := range uint64(5) { // input number n, retried until it is typed
				left := slices.Clone(kills)
				for {
					in := nextReader(t, f, true)
					next, part, _ := in.Next(7)
					if next > n {
						break
					}
					if k.killed == "" && len(left) > 0 {
						k.killed, left = left[0], left[1:]
					}
					runUntilKilled(func() {
						_, _ = in.StartInput(7, n, part, uint64(len(data))).Type(k, data[part:], true)
					})
				}
			}
			if want := bytes.Repeat(data, 5); !bytes.Equal(k.typed, want) {
				t.Errorf("space %d, %v: got %d typed bytes, want %d", room, kills, len(k.typed), len(want))
			}
		}
	}
}

// TestInputs_WithoutSendFile checks that without sendfile a started piece counts as typed: no byte is typed twice.
func TestInputs_WithoutSendFile(t *testing.T) {
	for what, c := range map[string]struct {
		killed, want string
	}{"killed before": {"before", "later"}, "killed after": {"after", "onelater"}} {
		f := sharedRing(t)
		k := &testDevice{t: t, room: 100, noFile: true, killed: c.killed}
		in := nextReader(t, f, true)
		if !runUntilKilled(func() { _, _ = in.StartInput(1, 5, 0, 3).Type(k, []byte("one"), false) }) {
			t.Fatal("the reader was not killed")
		}
		in = nextReader(t, f, false)
		if next, part, known := in.Next(1); next != 6 || part != 0 || !known {
			t.Errorf("%s: %d and %d bytes", what, next, part)
		}
		if n, err := in.StartInput(1, 6, 0, 5).Type(k, []byte("later"), false); n != 5 || err != nil {
			t.Errorf("%s: %d, %v", what, n, err)
		}
		if string(k.typed) != c.want {
			t.Errorf("%s: typed %q", what, k.typed)
		}
		k.room = 2 // the rest waits, and does not count as typed
		if n, _ := in.StartInput(1, 7, 0, 5).Type(k, []byte("abcde"), false); n != 2 {
			t.Errorf("%d accepted", n)
		}
		if next, part, _ := nextReader(t, f, false).Next(1); next != 7 || part != 2 {
			t.Errorf("%s: then %d and %d bytes", what, next, part)
		}
	}
}

// TestInputs_ManyClients checks that the input of a client is remembered until too many other clients have typed after
// it.
func TestInputs_ManyClients(t *testing.T) {
	in := nextReader(t, sharedRing(t), true)
	k := &testDevice{t: t, room: 100}
	for key := range uint64(maxStreams) {
		_, _ = in.StartInput(key, key, 0, 1).Type(k, []byte("x"), false)
	}
	for range 3 * maxStreams { // one that continues takes no other's place
		_, _ = in.StartInput(0, 9, 0, 1).Type(k, []byte("x"), false)
	}
	for key := range uint64(maxStreams) {
		if next, _, known := in.Next(key); !known || key > 0 && next != key+1 {
			t.Errorf("of client %d: %d, %v", key, next, known)
		}
	}
	_, _ = in.StartInput(1<<40, 0, 0, 1).Type(k, []byte("x"), false)
	for key, want := range map[uint64]bool{0: true, 1: false, 2: true, 1 << 40: true} {
		if _, _, known := in.Next(key); known != want {
			t.Errorf("client %d: got known %v", key, known)
		}
	}
	if in.StartInput(2, 50, 3, 3); in.file == nil {
		t.Error("the file is no longer used")
	}
	if next, part, _ := in.Next(2); next != 51 || part != 0 {
		t.Errorf("input that makes no bytes: %d, %d", next, part)
	}
}

// TestInputs_Close checks that typed input does not stay in memory, and after Close the memory is not used.
func TestInputs_Close(t *testing.T) {
	f := sharedRing(t)
	in := nextReader(t, f, true)
	k := &testDevice{t: t, room: 100}
	page := in.page
	i := in.StartInput(1, 0, 0, 6)
	_, _ = i.Type(k, []byte("secret"), false)
	if bytes.Contains(page, []byte("secret")) {
		t.Error("typed bytes are still in memory")
	}
	in.Close()
	in.Close()
	(*Inputs)(nil).Close()
	if n, err := in.StartInput(1, 1, 0, 3).Type(k, []byte("end"), false); n != 3 || err != nil || string(k.typed) != "secretend" {
		t.Errorf("%d, %v: %q", n, err, k.typed)
	}
	if _, _, known := in.Next(1); known {
		t.Error("got a known stream after Close")
	}
	r := Local(MinSize)
	r.Separate()
	if r.Inputs() != nil {
		t.Error("got inputs of a ring of two streams")
	}
}

// FuzzInputs checks that invalid memory causes no access beyond it, and that exactly the given input is typed.
func FuzzInputs(f *testing.F) {
	f.Add([]byte{}, int64(0), uint16(3))
	f.Add(bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 400), int64(3000), uint16(5000))
	f.Add(bytes.Repeat([]byte{0xff}, headerSize), int64(-1), uint16(1))
	shared := sharedRing(f)
	f.Fuzz(func(t *testing.T, memory []byte, at int64, n uint16) {
		r, err := Map(shared)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { r.file = nil; _ = r.Close() }()
		r.file = shared
		in := r.Inputs()
		clear(in.page[entryOffset:])
		copy(in.page[entryOffset:], memory)
		if _, err := shared.Seek(at, io.SeekStart); err != nil {
			_, _ = shared.Seek(0, io.SeekStart)
		}
		in = r.Inputs()
		k := &testDevice{t: t, room: 1 << 20}
		data := bytes.Repeat([]byte{'a'}, int(n))
		next, part, _ := in.Next(1)
		_, _ = in.StartInput(1, next, min(part, uint64(n)), uint64(n)).Type(k, data, false)
		if !bytes.Equal(k.typed, data) {
			t.Errorf("typed %d of %d bytes", len(k.typed), n)
		}
		if after, _, known := in.Next(1); n > 0 && (!known || after < next && next != 1<<64-1) {
			t.Errorf("number %d after %d", after, next)
		}
	})
}

// TestInputs_RandomKills runs a random sequence of clients that type and retry, with readers that are killed anywhere.
func TestInputs_RandomKills(t *testing.T) {
	if !canTypeFromFiles {
		t.Skip("terminals are not typed into out of files here")
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	f := sharedRing(t)
	k := &testDevice{t: t, room: 5}
	in, want, sent := nextReader(t, f, true), map[uint64]string{}, map[uint64]uint64{}
	got := map[uint64]string{}
	for range 3000 {
		key := r.Uint64N(3)
		n := sent[key]
		data := fmt.Sprintf("%c%d.", 'a'+rune(key), n)
		k.killed = []string{"", "", "before", "after"}[r.IntN(4)]
		k.room = 1 + r.IntN(9)
		for {
			next, part, _ := in.Next(key)
			if next > n {
				break
			}
			k.typed = nil
			died := runUntilKilled(func() { _, _ = in.StartInput(key, n, part, uint64(len(data))).Type(k, []byte(data)[part:], false) })
			got[key] += string(k.typed)
			if died {
				in = nextReader(t, f, true)
			}
		}
		sent[key]++
		want[key] += data
	}
	for key := range want {
		if got[key] != want[key] {
			t.Errorf("seed %d: client %d typed %d bytes, want %d", seed, key, len(got[key]), len(want[key]))
		}
	}
}
