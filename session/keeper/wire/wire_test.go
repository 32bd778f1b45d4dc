package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// goldenMessages pins the protocol's bytes: a running keeper must understand every later daemon. Never change a line; add
// new ones (K5).
var goldenMessages = []struct {
	name string
	msg  Message
	hex  string
}{
	{"hello", &Hello{Version: 1, MinVersion: 1, Build: "v1", Role: RoleDaemon, PID: 258, Key: "main"},
		"4800000001000000" +
			"0100080000000100000000000000" + "0200080000000100000000000000" + "0300020000007631" +
			"0400060000006461656d6f6e" + "0500080000000201000000000000" + "0600040000006d61696e"},
	{"spawn", &Spawn{Req: 2, ID: "a", Argv: []string{"sh", ""}, Env: []string{"A=1"}, Dir: "/", Cols: 80, Rows: 24, RingBytes: 65536, Pipe: true, Path: "/bin/sh"},
		"7800000002000000" +
			"0100080000000200000000000000" + "02000100000061" + "0300020000007368" + "030000000000" + "040003000000413d31" +
			"0500010000002f" + "0600080000005000000000000000" + "0700080000001800000000000000" +
			"0800080000000000010000000000" + "0900080000000100000000000000" + "0a00070000002f62696e2f7368"},
	{"output", &Output{ID: "ab"}, "08000000080000000100020000006162"},
	{"exited by a signal", &Exited{ID: "a", Code: -1, Signal: 9, Head: 7},
		"310000000a000000" + "01000100000061" + "020008000000ffffffffffffffff" + "0300080000000900000000000000" + "0800080000000700000000000000"},
	{"done", &Done{Req: 1, Error: "no", Code: CodeBusy},
		"200000000700000001000800000001000000000000000200020000006e6f03000400000062757379"},
	{"leave", &Leave{Restart: true}, "0e0000000f0000000100080000000100000000000000"},
	{"spawn on three pipes", &Spawn{Req: 2, ID: "a", Argv: []string{"sh"}, Pipe: true, Path: "/bin/sh", Separate: true, Input: true},
		"5400000002000000" +
			"0100080000000200000000000000" + "02000100000061" + "0300020000007368" + "0900080000000100000000000000" +
			"0a00070000002f62696e2f7368" + "0c00080000000100000000000000" + "0d00080000000100000000000000"},
	{"spawn with limits", &Spawn{ID: "a", Memory: 1 << 20, CPU: 1500, PIDs: 9},
		"3100000002000000" +
			"02000100000061" + "0e00080000000000100000000000" + "0f0008000000dc05000000000000" + "1000080000000900000000000000"},
	{"session on three pipes", &Session{Req: 1, ID: "a", Pipe: true, Separate: true, Input: true, Cgroup: "/c"},
		"4700000005000000" +
			"0100080000000100000000000000" + "02000100000061" + "0700080000000100000000000000" +
			"0a00080000000100000000000000" + "0b00080000000100000000000000" + "0c00020000002f63"},
	{"spawn by way of a shim", &Spawn{ID: "a", Shim: true}, "150000000200000002000100000061" + "1200080000000100000000000000"},
	{"spawned by way of a shim", &Spawned{Req: 1, Shim: true, Checked: true, Report: "{}"},
		"3200000003000000010008000000010000000000000009000800000001000000000000000a000800000001000000000000000b00020000007b7d"},
	{"execution", &Execution{ID: "a", Number: 7, PID: 3, Parent: 2, Start: 9, Path: "./x", Argv: []string{"x", ""}, ArgvTruncated: true, Dir: "/", Cwd: "/"},
		"71000000180000000100010000006102000800000007000000000000000300080000000300000000000000040008000000020000000000000005000800000009000000000000000600030000002e2f780700010000007807000000000008000800000001000000000000000900010000002f0b00010000002f"},
	{"execution answered", &ExecutionAnswer{ID: "a", Number: 7, Allow: true},
		"23000000190000000100010000006102000800000007000000000000000300080000000100000000000000"},
	{"execution answered at its listener", &ExecutionAnswer{ID: "a", Number: 7, Errno: 1, Done: true},
		"3100000019000000010001000000610200080000000700000000000000" +
			"0400080000000100000000000000" + "0500080000000100000000000000"},
	{"listener", &ExecutionListener{ID: "a"}, "070000001c00000001000100000061"},
	{"execution gone", &ExecutionEnded{ID: "a", Number: 7},
		"150000001a000000010001000000610200080000000700000000000000"},
	{"hello to a caller that is refused", &Hello{Version: 1, MinVersion: 1, Rejection: "no"},
		"2400000001000000010008000000010000000000000002000800000001000000000000000800020000006e6f"},
	{"spawn of a bound session", &Spawn{ID: "a", Restricted: true},
		"1500000002000000020001000000611300080000000100000000000000"},
	{"bound", &Restricted{ID: "a"},
		"070000001f00000001000100000061"},
	{"refused", &Rejected{Session: "a", Role: RoleTool, Reason: "no", PID: 7, Path: "/x", Count: 2},
		"3d0000002000000001000100000061020004000000746f6f6c0300020000006e6f05000800000007000000000000000600020000002f780700080000000200000000000000"},
	{"close input", &CloseInput{Req: 3, ID: "a"}, "1500000017000000010008000000030000000000000002000100000061"},
}

func TestGoldenBytes(t *testing.T) {
	for _, g := range goldenMessages {
		frame := AppendFrame(nil, g.msg, 0)
		if got := hex.EncodeToString(frame); got != g.hex {
			t.Errorf("%s:\n got %s\nwant %s", g.name, got, g.hex)
		}
	}
}

// allMessages lists all messages, for the test of encoding and decoding.
var allMessages = []Message{
	&Hello{}, &Spawn{}, &Spawned{}, &List{}, &Session{}, &Adopt{}, &Done{}, &Output{}, &Resume{}, &Exited{}, &Closed{},
	&Signal{}, &Release{}, &Ready{}, &Leave{}, &StartDaemon{}, &Upgrade{}, &Shutdown{}, &Status{}, &StatusReply{},
	&Handoff{}, &HandoffKeeper{}, &CloseInput{},
	&Execution{}, &ExecutionAnswer{}, &ExecutionEnded{}, &HandoffListener{}, &ExecutionListener{},
	&ExecutionReceiver{}, &ExecutionInbox{},
}

// fillFields sets every field to a value that identifies it.
func fillFields(m Message) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(uint64(i + 1))
		case reflect.Int64:
			f.SetInt(int64(-i - 1))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString(strings.Repeat("x", i+1))
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"", "a", strings.Repeat("y", 300)}))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	seen := map[Kind]bool{}
	for _, m := range allMessages {
		if seen[m.kind()] {
			t.Errorf("kind %d is used twice", m.kind())
		}
		seen[m.kind()] = true
		fillFields(m)
		f, err := ReadFrame(bytes.NewReader(AppendFrame(nil, m, 3)))
		if err != nil || f.Kind != m.kind() || f.Descriptors != 3 {
			t.Fatalf("%T: %+v, %v", m, f, err)
		}
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(Message)
		if err := Decode(f.Payload, got); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%T: %+v, %v", m, got, err)
		}
	}
	if len(seen) != int(KindExecutionInbox) {
		t.Errorf("%d kinds tested, want %d", len(seen), KindExecutionInbox)
	}
}

// TestUnknownFieldsAreSkipped checks that a newer peer's field is skipped, and one that an older peer lacks is zero.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	payload := appendInt(nil, 99, 5)
	payload = appendField(payload, 1, "id")
	payload = appendField(payload, 1000, "something new")
	var m Output
	if err := Decode(payload, &m); err != nil || m.ID != "id" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestBounds(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}
	if _, err := ReadFrame(bytes.NewReader(huge)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("4 GiB payload: %v", err)
	}
	many := []byte{0, 0, 0, 0, 1, 0, 200, 0}
	if _, err := ReadFrame(bytes.NewReader(many)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("200 descriptors: %v", err)
	}
	cut := AppendFrame(nil, &Output{ID: "abc"}, 0)
	if _, err := ReadFrame(bytes.NewReader(cut[:len(cut)-1])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut frame: %v", err)
	}
	for _, payload := range [][]byte{{1}, {1, 0, 9, 0, 0, 0, 'x'}, append(appendField(nil, 2, "abc")[:6], "ab"...)} {
		if err := Decode(payload, &Hello{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("% x: %v", payload, err)
		}
	}
	if err := Decode(appendField(nil, 1, "not eight"), &Hello{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an integer of nine bytes: %v", err)
	}
}

func FuzzFrame(f *testing.F) {
	for _, g := range goldenMessages {
		b, _ := hex.DecodeString(g.hex)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := ReadFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, m := range allMessages {
			m = reflect.New(reflect.TypeOf(m).Elem()).Interface().(Message)
			if Decode(frame.Payload, m) != nil {
				continue
			}
			again := reflect.New(reflect.TypeOf(m).Elem()).Interface().(Message)
			if err := Decode(AppendFrame(nil, m, 0)[headerSize:], again); err != nil || !reflect.DeepEqual(m, again) {
				t.Errorf("%T: %+v became %+v, %v", m, m, again, err)
			}
		}
	})
}
