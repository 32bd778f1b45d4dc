package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
)

// TestMarks checks that the bytes of marks stay the same, like those of segments.
func TestMarks(t *testing.T) {
	t.Parallel()
	in := Input{Kind: InputPaste, Bytes: 300, Data: []byte("ls\r")}
	if got, want := hex.EncodeToString(in.AppendTo(nil)), "01020000"+"2c01000000000000"+"6c730d"; got != want {
		t.Errorf("input is %s, want %s", got, want)
	}
	c := Command{Phase: PhaseDone, JSON: []byte(`{"exit":1}`)}
	if got, want := hex.EncodeToString(c.AppendTo(nil)), "0204"+hex.EncodeToString(c.JSON); got != want {
		t.Errorf("command is %s, want %s", got, want)
	}
	j := open(t, t.TempDir(), testOptions())
	must(t, j.AppendMark(in.AppendTo(nil)))
	must(t, j.AppendMark(Input{Kind: InputTyped, Bytes: 1}.AppendTo(nil)))
	must(t, j.AppendMark(Input{Kind: InputPaste, Bytes: 1 << 20, Data: make([]byte, 1<<20)}.AppendTo(nil)))
	must(t, j.AppendMark(c.AppendTo(nil)))
	must(t, j.AppendMark(Command{Phase: PhasePrompt}.AppendTo(nil)))
	if err := j.AppendMark(Command{JSON: make([]byte, MaxPayload)}.AppendTo(nil)); err == nil {
		t.Error("a command that does not fit a record was accepted")
	}
	var marks [][]byte
	for _, e := range entries(t, j, 0) {
		if e.Kind != KindMark {
			t.Fatalf("got %v", e)
		}
		marks = append(marks, []byte(e.Data))
	}
	if len(marks) != 5 {
		t.Fatalf("%d marks", len(marks))
	}
	if got, err := DecodeInput(marks[0]); err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("got %+v %v", got, err)
	}
	if got, err := DecodeInput(marks[1]); err != nil || got.Bytes != 1 || len(got.Data) != 0 {
		t.Errorf("without content: %+v %v", got, err)
	}
	if got, err := DecodeInput(marks[2]); err != nil || got.Bytes != 1<<20 || len(marks[2]) != MaxPayload {
		t.Errorf("a megabyte pasted: %d bytes, %d kept, %v", got.Bytes, len(got.Data), err)
	}
	if got, err := DecodeCommand(marks[3]); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v %v", got, err)
	}
	if got, err := DecodeInput(Input{Bytes: 2, Data: []byte("abc")}.AppendTo(nil)); !errors.Is(err, ErrMark) {
		t.Errorf("more content than was written: %+v %v", got, err)
	}
	if _, err := DecodeCommand(marks[0]); !errors.Is(err, ErrMark) {
		t.Errorf("an input read as a command: %v", err)
	}
	if _, err := DecodeInput(marks[3]); !errors.Is(err, ErrMark) {
		t.Errorf("a command read as input: %v", err)
	}
}

func FuzzMark(f *testing.F) {
	f.Add(Input{Kind: InputTyped, Bytes: 2, Data: []byte("ab")}.AppendTo(nil))
	f.Add(Command{Phase: PhaseRunning, JSON: []byte("{}")}.AppendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, mark []byte) {
		if in, err := DecodeInput(mark); err == nil {
			again, err := DecodeInput(in.AppendTo(nil))
			if err != nil || again.Kind != in.Kind || again.Bytes != in.Bytes || !bytes.Equal(again.Data, in.Data) {
				t.Errorf("%+v became %+v, %v", in, again, err)
			}
		}
		if c, err := DecodeCommand(mark); err == nil && !bytes.Equal(c.AppendTo(nil), mark) {
			t.Errorf("%+v is encoded differently", c)
		}
	})
}
