package replica

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/journal"
)

// member returns a host of a separate fleet.
func member(t testing.TB, a *certs.Authority, name string) *certs.Identity {
	t.Helper()
	key, csr, err := certs.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := certs.Dir(t.TempDir()).Admit(a, certs.Member{Name: name, Kind: certs.Host, May: []string{"look"}}, csr)
	if err != nil {
		t.Fatal(err)
	}
	return &certs.Identity{CA: a.Cert, Cert: cert, Key: key, Member: certs.MemberOf(cert)}
}

func authority(t testing.TB) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// written returns a journal with records of each kind, several of them without output at one offset.
func written(t *testing.T) *journal.Journal {
	t.Helper()
	now := time.Unix(1000, 0)
	j, _, err := journal.Open(t.TempDir(), journal.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	for _, err := range []error{
		j.AppendResize(80, 24), j.AppendMark([]byte("\x09one")), j.AppendOutput([]byte("first ")), j.AppendMark([]byte("\x09two")),
		j.AppendMark([]byte("\x09three")), j.AppendGap(7), j.AppendResize(100, 30), j.AppendOutput(bytes.Repeat([]byte("x"), 9000)),
		j.AppendExit(journal.Exit{Code: 3, User: time.Second}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// text is a journal's records as one can compare them.
func text(t *testing.T, j *journal.Journal) []byte {
	t.Helper()
	var b []byte
	r := j.NewReader(0)
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err = AppendRecord(b, &rec); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopyHasEachRecordOnce checks that the replica has each record once, for any chunks of the journal, repeated and
// overlapping.
//
// FEATURES: R94
func TestCopyHasEachRecordOnce(t *testing.T) {
	j := written(t)
	for _, size := range []int{1, 20, 5000, MaxBody} {
		m, err := NewMerger(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		all := 0
		for at := (Place{}); ; {
			c := NewCursor(j, at) // as after a restart
			body, to, err := c.Next(size)
			if err != nil {
				t.Fatal(err)
			}
			if len(body) == 0 {
				break
			}
			whole, end, err := NewCursor(j, Place{}).Next(1 << 20) // everything is repeated now and then
			if err != nil {
				t.Fatal(err)
			}
			if all++; all == 3 {
				if err := m.Add(Head{To: end}, whole); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := m.Add(Head{From: at, To: to, End: j.End()}, body); err != nil {
					t.Fatal(err)
				}
			}
			at = to
		}
		if got, want := text(t, m.j), text(t, j); !bytes.Equal(got, want) {
			t.Errorf("chunks of %d: the copy has %q", size, got)
		}
		if m.Missing != 7 || m.End != j.End() || m.At().Offset != j.End() {
			t.Errorf("chunks of %d: %d missing, %d of %d", size, m.Missing, m.At().Offset, m.End)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMissingChunk_IsAGap checks that a chunk that the fleet no longer has becomes a counted gap.
//
// FEATURES: R94
func TestMissingChunk_IsAGap(t *testing.T) {
	j := written(t)
	m, err := NewMerger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	from := Place{Offset: 13}
	body, to, err := NewCursor(j, from).Next(MaxBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(Head{From: from, To: to, End: j.End() + 5}, body); err != nil {
		t.Fatal(err)
	}
	if m.Missing != 13 || m.End-m.At().Offset != 5 {
		t.Errorf("%d missing, %d at the end", m.Missing, m.End-m.At().Offset)
	}
	rec, err := m.j.NewReader(0).Next()
	if err != nil || rec.Kind != journal.KindGap || rec.Lost != 13 {
		t.Errorf("%+v, %v", rec, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// FEATURES: R94
func TestForeignCopies_Refused(t *testing.T) {
	ours := authority(t)
	a, b := member(t, ours, "a"), member(t, ours, "b")
	stranger := member(t, authority(t), "a")
	h := Head{Session: "s", To: Place{Offset: 1}}
	good, err := Seal(a, h, []byte("body"))
	if err != nil {
		t.Fatal(err)
	}
	if got, body, err := Open(ours.Cert, "a", "s", good); err != nil || string(body) != "body" || got.Host != "a" || got.To != h.To {
		t.Fatalf("%+v %q %v", got, body, err)
	}
	of := func(id *certs.Identity) []byte {
		m, err := Seal(id, h, []byte("body"))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, bad := range []struct {
		name, host, session string
		m                   []byte
	}{
		{"another member's", "a", "s", of(b)}, {"another authority's", "a", "s", of(stranger)},
		{"another session's", "a", "t", good}, {"another host's", "b", "s", good},
		{"changed", "a", "s", append(bytes.Clone(good), 'x')},
	} {
		if _, _, err := Open(ours.Cert, bad.host, bad.session, bad.m); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", bad.name, err)
		}
	}
	for n := range good {
		if _, _, err := Open(ours.Cert, "a", "s", good[:n]); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	a := authority(f)
	good, err := Seal(member(f, a, "a"), Head{Session: "s"}, []byte("body"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := Open(a.Cert, "a", "s", b); err == nil && !bytes.Equal(b, good) {
			// ECDSA has a second form of each signature, by the same signer.
			t.Skip()
		} else if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForged) {
			t.Fatal(err)
		}
	})
}

func FuzzRecords(f *testing.F) {
	b, _ := AppendRecord(nil, &journal.Record{Kind: journal.KindOutput, Data: []byte("output")})
	b, _ = AppendRecord(b, &journal.Record{Kind: journal.KindResize, Cols: 80, Rows: 24})
	b, _ = AppendRecord(b, &journal.Record{Kind: journal.KindGap, Lost: 9})
	b, _ = AppendRecord(b, &journal.Record{Kind: journal.KindExit, Exit: journal.Exit{Code: -1, Signal: 9}})
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		count := Place{}
		to, err := Records(Place{}, b, func(at Place, r *journal.Record) (err error) {
			if at != count {
				t.Fatalf("a record at %v after %v", at, count)
			}
			count = count.past(Span(r))
			again, err = AppendRecord(again, r)
			return err
		})
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		same, err := Records(Place{}, again, func(Place, *journal.Record) error { return nil })
		if err != nil || same != to {
			t.Fatalf("%v, %v: %v", to, same, err)
		}
	})
}
