//go:build linux

package fastpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/api"
)

// TestFastPath_ImportsLittle checks that this package imports only os, strconv and their imports: they are initialised
// before it.
func TestFastPath_ImportsLittle(t *testing.T) {
	deps := func(pkgs ...string) []string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, pkgs...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	const here = "github.com/longterm-dev/longterm/cmd/internal/"
	may := append(deps("os", "strconv", "runtime"), here+"fastpath", here+"termio/takeover")
	for _, dep := range deps(".") {
		if !slices.Contains(may, dep) {
			t.Errorf("it imports %s: imports are initialised before this package", dep)
		}
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc":                                               "abc",
		"HTTP/1.1 201 Created\r\nDate: x\r\nContent-Length: 0\r\nX: y\r\n\r\n":                          "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n": "abc0123456789",
	} {
		if _, got, ok := parse(s); !ok || got != want {
			t.Errorf("%q: %q %v", s, got, ok)
		}
		for n := range len(s) { // broken off anywhere
			if _, got, ok := parse(s[:n]); ok && !strings.HasPrefix(s[n:], "\r\n") && s[n:] != "\n" {
				t.Errorf("%q is complete: %q", s[:n], got)
			}
		}
	}
	for _, s := range []string{
		"", "HTTP/1.1 ", "HTTP/1.0 200 OK\r\n\r\nabc", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\nabc",
	} {
		if _, got, ok := parse(s); ok {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// TestUmask_ReadingRestoresIt checks that querying the umask does not change it: a verb outside of the fast path
// queries it again.
func TestUmask_ReadingRestoresIt(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	for range 2 {
		body, ok := newSession("", []string{"true"})
		if !ok || !strings.Contains(body, `"umask":"0027"`) {
			t.Fatalf("%v %s", ok, body)
		}
	}
}

// TestForeignSocket_ReceivesNothing checks that nothing is sent to a socket on which another user listens.
func TestForeignSocket_ReceivesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs to be root, to be another user as well")
	}
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("LONGTERM_DIR", dir)
	t.Setenv("LONGTERM_AGENT", "")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "run"), 0o755)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket(), 0o777); err != nil {
		t.Fatal(err)
	}
	heard := make(chan int64)
	go func() {
		var all int64
		for {
			c, err := l.Accept()
			if err != nil {
				heard <- all
				return
			}
			n, _ := c.Read(make([]byte, 1))
			all += int64(n)
			_ = c.Close()
		}
	}()
	asked := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Errorf("become another user: %v", errno)
		}
		_, ok := request("GET", "/v1/sessions", "")
		asked <- ok
	}()
	if <-asked {
		t.Error("it was answered")
	}
	_ = l.Close()
	if n := <-heard; n > 0 {
		t.Errorf("%d bytes were sent", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if _, body, ok := parse(s); ok && len(body) > len(s) {
			t.Errorf("%q", body)
		}
	})
}

// TestIndented checks that JSON is indented as encoding/json does it.
func TestIndented(t *testing.T) {
	for _, s := range []string{
		`[]`, `{}`, `[{"a":1,"b":[],"c":{},"d":"x\\\"{[,:\\","e":[1,2,{"f":null}]},{"g":"é<>&"}]`, `"x"`, `12`, `[[],[[]]]`,
	} {
		checkIndented(t, s)
		for n := range len(s) {
			if got, ok := indentJSON(s[:n]); ok && !json.Valid([]byte(s[:n])) {
				t.Errorf("%s is complete: %s", s[:n], got)
			}
		}
	}
	for _, s := range []string{"", "[ 1]", "]", "[", `"`, `"\`, "{\n}"} {
		if got, ok := indentJSON(s); ok {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// checkIndented compares indented JSON with the result of encoding/json.
func checkIndented(t *testing.T, s string) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Indent(&want, []byte(s), "", "  "); err != nil {
		t.Fatal(err)
	}
	if got, ok := indentJSON(s + "\n"); !ok || got != want.String()+"\n" {
		t.Errorf("%q: %v %s, want %s", s, ok, got, want.String())
	}
}

func FuzzIndented(f *testing.F) {
	f.Add(`[{"a":1,"b":[],"c":{},"d":"x\\\"{[,:\\","e":[1,2,{"f":null}]}]`)
	f.Add(`[[`)
	f.Fuzz(func(t *testing.T, s string) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(s)) != nil {
			indentJSON(s)
			return
		}
		if got, ok := indentJSON(compact.String()); ok { // not if it is deeper than any response of the daemon
			checkIndented(t, compact.String())
		} else if strings.Count(s, "[")+strings.Count(s, "{") <= 64 {
			t.Errorf("%q: %s", s, got)
		}
	})
}

func TestPlainName(t *testing.T) {
	for s, want := range map[string]bool{"a": true, "A-1._b": true, "": false, "-n": false, ".": false, "a/b": false, "a b": false, "ä": false, "a%": false, "a\"": false} {
		if plainName(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func TestBody(t *testing.T) {
	odd := "a\"b\\c\n\t\x01\x7fé漢" + string(rune(0x2028))
	t.Setenv("ODD", odd)
	body, ok := newSession("n", []string{"sh", odd, ""})
	var n api.NewSession
	if err := json.Unmarshal([]byte(body), &n); err != nil || !ok {
		t.Fatalf("%v %v %s", ok, err, body)
	}
	cwd, _ := os.Getwd()
	if n.Name != "n" || !slices.Equal(n.Argv, []string{"sh", odd, ""}) || !slices.Equal(n.Env, os.Environ()) || n.Cwd != cwd ||
		n.OnApproval != "return" || len(n.AskID) != 32 || n.AskID != ID || len(n.Umask) != 4 {
		t.Errorf("%+v", n)
	}
	if _, ok := newSession("", []string{"a\xff"}); ok {
		t.Error("invalid UTF-8 is not reported")
	}
}

// TestMembers checks that members splits objects as encoding/json does.
func TestMembers(t *testing.T) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":"x\\\"{[,:\\","b":[1,{"c":"]"},[]],"d":{"e":null},"f":true,"g":-1.5e3,"h":"\u00e9\n<"}`} {
		checkMembers(t, s)
	}
	for _, s := range []string{"", "{", "}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a" :1}`, `{"a":1 }`, `{a:1}`, `{"a":1}{`, `[1]`, `{"a":[}`, `{"a":1]}`} {
		if members(s, func(string, string) bool { return true }) && !json.Valid([]byte(s)) && s != `{"a":1]}` {
			t.Errorf("%q is an object", s)
		}
	}
	var got []string
	if !elements(`[1,{"a":[2,3]},"x,y"]`, func(v string) bool { got = append(got, v); return true }) || !slices.Equal(got, []string{"1", `{"a":[2,3]}`, `"x,y"`}) {
		t.Errorf("%q", got)
	}
}

// checkMembers compares the members of a compact object with those that encoding/json finds.
func checkMembers(t *testing.T, s string) {
	t.Helper()
	want := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(s), &want); err != nil {
		t.Fatal(err)
	}
	ok := members(s, func(name, value string) bool {
		if plain, whole := unquote(`"` + name + `"`); !whole || plain != name {
			return true // of another spelling; the daemon's names are plain
		}
		if !json.Valid([]byte(value)) { // numbers may be of any size
			t.Errorf("%q: %s: %s is no value", s, name, value)
			return true
		}
		var b any
		_ = json.Unmarshal(want[name], &b)
		text, isText := b.(string)
		if got, ok := unquote(value); isText && ok && got != text {
			t.Errorf("%q: %q, want %q", s, got, text)
		}
		return true
	})
	if !ok {
		t.Errorf("%q is not recognised as an object", s)
	}
}

func FuzzMembers(f *testing.F) {
	f.Add(`{"a":"x\"{[,:","b":[1,{"c":"]"},[]],"d":{"e":null},"f":true,"g":-1.5e3,"h":"\u00e9\n<"}`)
	f.Add(`{"a":[`)
	f.Fuzz(func(t *testing.T, s string) {
		members(s, func(_, value string) bool { unquote(value); return true })
		elements(s, func(string) bool { return true })
		var object map[string]json.RawMessage
		var compact bytes.Buffer
		if json.Unmarshal([]byte(s), &object) == nil && object != nil && json.Compact(&compact, []byte(s)) == nil {
			unique := 0
			members(compact.String(), func(string, string) bool { unique++; return true })
			if unique == len(object) { // else a name is there twice
				checkMembers(t, compact.String())
			}
		}
	})
}

// FuzzUnquoted checks that written texts are read back.
func FuzzUnquoted(f *testing.F) {
	f.Add("a\"b\\c\n\t\x01\x7fé漢")
	f.Fuzz(func(t *testing.T, s string) {
		unquote(s)
		if got, ok := unquote(string(quote(nil, s))); utf8.ValidString(s) && (!ok || got != s) {
			t.Errorf("%q: %q", s, got)
		}
		b, _ := json.Marshal(s)
		if got, ok := unquote(string(b)); ok && utf8.ValidString(s) && got != s {
			t.Errorf("%q of encoding/json: %q", s, got)
		}
	})
}

func TestParseArgs(t *testing.T) {
	flags := []flag{jsonFlag, {long: "enter", short: "e"}, {long: "for", valued: true, repeats: true}}
	for _, c := range []struct {
		args string
		lead int
		want string // arguments, and their number before --; empty: left to the verb
	}{
		{"s text", 0, "[s text] -1"}, {"-e s --json text", 0, "[s text] -1"}, {"s -- -e", 0, "[s -e] 1"}, {"s -", 0, "[s -] -1"},
		{"s --for x --for -- y", 0, "[s y] -1"}, {"s --for", 0, ""}, {"s --for=x", 0, ""}, {"s -ex", 0, ""}, {"s --json=brief", 0, ""}, {"s -e -e", 0, ""},
		{"--json s ls -l -e", 2, "[s ls -l -e] -1"}, {"s --json ls", 2, "[s ls] -1"}, {"s -- ls --json", 2, "[s ls --json] 1"},
		{"s ls --json", 2, ""}, {"s ls --", 2, ""}, {"s ls --color", 2, ""}, {"-x s ls", 2, ""}, {"-- s ls", 2, "[s ls] 0"},
	} {
		g, ok := parseArgs(strings.Fields(c.args), flags, c.lead)
		got := ""
		if ok {
			got = fmt.Sprint(g.words, " ", g.dashed)
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestMillis(t *testing.T) {
	for s, want := range map[string]int{"1s": 1000, "250ms": 250, "2m": 120_000, "": 0, "1": 0, "s": 0, "0s": 0, "1.5s": 0, "-1s": 0, "1h": 0, "999999999s": 0} {
		if got, ok := millis(s); got != want || ok != (want > 0) {
			t.Errorf("%q: %d %v", s, got, ok)
		}
	}
}
