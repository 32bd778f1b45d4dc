package redact

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// testKey is a fixed key.
var testKey = Key(sha256.Sum256([]byte("key")))

// newTestVault returns a vault that has learned values.
func newTestVault(t testing.TB, values ...string) *Vault {
	t.Helper()
	v, err := NewVault(testKey, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		v.Learn(value)
	}
	return v
}

// testToken is a token in GitHub's form.
const testToken = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// TestMaskText checks that values and tokens are masked at any position, byte for byte; similar text is not.
//
// FEATURES: R110
func TestMaskText(t *testing.T) {
	s := newTestVault(t, "hunter22", "pässwörd", "line one\nline two", strings.Repeat("long", 500)).Set()
	for in, want := range map[string]string{
		"x hunter22 y hunter22hunter22":                  "x ******** y ****************",
		"hunter2 unter22":                                "hunter2 unter22",
		"pässwörd":                                       strings.Repeat("*", len("pässwörd")),
		"hun\x1b[31mter\x1b[0m22.":                       "***\x1b[31m***\x1b[0m**.",
		"hunte\r\nr22 hun \rter22":                       "*****\r\n*** *** \r*****",
		"line one\r\nline two":                           "********\r\n********",
		strings.Repeat("long", 500) + "x":                strings.Repeat("*", 2000) + "x",
		strings.Repeat("long", 499):                      strings.Repeat("long", 499),
		"t=" + testToken + "!":                           "t=ghp_" + strings.Repeat("*", 36) + "!",
		"xghp_16C7e42F292c6912E771":                      "xghp_16C7e42F292c6912E771",
		"AKIAIOSFODNN7EXAMPLE":                           "AKIA****************",
		"see sk-learn-contrib-and-more-words":            "see sk-learn-contrib-and-more-words",
		"sk-proj-abcdefghij0123456789":                   "sk-*************************",
		"Authorization: Bearer abcdef0123456789abcdef":   "Authorization: Bearer **********************",
		"https://me:secret1@host/x http://host:8080/a@b": "https://me:*******@host/x http://host:8080/a@b",
		"git@github.com:a/b user@host":                   "git@github.com:a/b user@host",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig-1_":    "eyJ" + strings.Repeat("*", 40),
		"eyJust-a-word.that-is-long-enough-to-be-one":    "eyJust-a-word.that-is-long-enough-to-be-one",
		"-----BEGIN RSA PRIVATE KEY-----\r\nMIIE\r\nab==\r\n-----END RSA PRIVATE KEY-----":        "-----BEGIN RSA PRIVATE KEY-----\r\n****\r\n****\r\n-----END RSA PRIVATE KEY-----",
		`{"private_key": "-----BEGIN PRIVATE KEY-----\nMIIE\nab==\n-----END PRIVATE KEY-----\n"}`: `{"private_key": "-----BEGIN PRIVATE KEY-----**************-----END PRIVATE KEY-----\n"}`,
		"-----BEGIN CERTIFICATE-----\nMIIE":                                                       "-----BEGIN CERTIFICATE-----\nMIIE",
		"":                                                                                        "",
	} {
		if got := s.RedactText(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	plain, err := NewVault(Key{}, nil, Options{Formats: func() bool { return false }})
	if err != nil || plain.Set().RedactText(testToken) != testToken || !plain.Set().Empty() {
		t.Error("forms are searched for nevertheless", err)
	}
	var none *Vault
	if none.Set().RedactText(testToken) != testToken {
		t.Error("nothing masks")
	}
}

// TestNames checks that names select variables that hold secrets, and IsSecretValue the values to mask.
//
// FEATURES: R66
func TestNames(t *testing.T) {
	names := NewNames(DefaultNames)
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "api_token_2": true, "AWS_SECRET_ACCESS_KEY": true, "DB_PASSWORD": true, "OPENAI_API_KEY": true, "STRIPE_APIKEY": true,
		"PATH": false, "PWD": false, "KEYTIMEOUT": false, "GPG_KEY": false, "SSH_AUTH_SOCK": false, "": false, "HOME": false, "MONKEY": false,
	} {
		if names.Match(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for value, want := range map[string]bool{
		"hunter22": true, "short": false, "": false, "enabled": false, "/home/me/.ssh/id_rsa": false, "~/.netrc/x": false, "/9j+4AAQ=Skz": true,
	} {
		if IsSecretValue(value) != want {
			t.Errorf("%s: %v", value, !want)
		}
	}
	if CheckName("[") == nil || CheckName("*_X") != nil {
		t.Error("got no error of an invalid pattern")
	}
	v := newTestVault(t)
	if !v.LearnEnv(EnvPairs([]string{"A_TOKEN=hunter22", "B=public12", "broken"})) || v.LearnEnv(EnvPairs([]string{"A_TOKEN=hunter22"})) {
		t.Error("got a new value as known")
	}
	if got := v.Set().RedactText("hunter22 public12"); got != "******** public12" {
		t.Errorf("%q", got)
	}
}

// TestNames_MatchLikePath checks that patterns that are matched as words match as package path does.
//
// FEATURES: R66
func TestNames_MatchLikePath(t *testing.T) {
	patterns := append(slices.Clone(DefaultNames), "*", "**", "", "*A", "A*", "*A*", "A", "*A*B*", "A*B", "?A*", "*[AB]", "*\\A", "A/*", "*/A*", "[", "*[", "**A", "A**")
	names := []string{"", "A", "B", "AB", "BA", "BAB", "AXB", "A/B", "B/A", "/", "*A", "[", "MY_TOKEN_2", "TOKEN", "MY_KEY", "MY_KEYS", "a_pin", "DATABASE_URL", "X/MY_KEY", "X_DATABASE_URL"}
	for _, p := range patterns {
		for _, name := range names {
			want, err := path.Match(strings.ToUpper(p), strings.ToUpper(name))
			if got := NewNames([]string{p}).Match(name); got != (want && err == nil) {
				t.Errorf("%q of %q: %v", p, name, got)
			}
		}
	}
}

// TestVault_Stored checks that a stored vault masks as before, and its bytes contain no value.
//
// FEATURES: R110
func TestVault_Stored(t *testing.T) {
	v := newTestVault(t, "hunter22", "correct horse battery")
	kept := v.Bytes()
	for _, part := range []string{"hunter", "correct", "horse", "aHVudGVy"} {
		if bytes.Contains(kept, []byte(part)) {
			t.Errorf("%s is in %s", part, kept)
		}
	}
	again, err := NewVault(testKey, kept, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Set().RedactText("a hunter22 correct horse battery"); got != "a ******** *********************" {
		t.Errorf("%q", got)
	}
	if again.Learn("hunter22") {
		t.Error("got a known value as new")
	}
	other, err := NewVault(Key{9}, kept, Options{})
	if err != nil || other.Set().RedactText("hunter22") != "hunter22" {
		t.Error("got a match with another key", err)
	}
	for _, bad := range []string{"x", `[{"len":-1}]`, `[{"len":99999999,"tag":1,"sum":"AAAAAAAAAAAAAAAAAAAAAA=="}]`, `{}`} {
		v, err := NewVault(Key{}, []byte(bad), Options{})
		if err == nil || v.Set().RedactText("fine text") != "fine text" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// maskInPieces masks output in chunks, with context around each, as a session does.
func maskInPieces(s *Set, out []byte, next func() int, live bool) []byte {
	var got []byte
	for from := 0; from < len(out); {
		n := min(max(1, next()), len(out)-from)
		begin := max(0, from-ContextBytes)
		all := bytes.Clone(out[begin:min(len(out), from+n+ContextBytes)])
		if live { // nothing follows yet
			all = all[:from-begin+n]
		}
		s.Redact(all, uint64(begin), from-begin, from-begin+n)
		got = append(got, all[from-begin:from-begin+n]...)
		from += n
	}
	return got
}

// randomOutput returns output with secrets, parts of secrets and text that may occur within them.
func randomOutput(rnd *rand.Rand, values []string) []byte {
	parts := append([]string{
		"\r\n", "\n", " ", "\x1b[31m", "\x1b[0m", " \r", "plain text ", "é", "\x1b]0;title\x07", "http://", ":", "@", "Bearer ", "ghp_", "16C7e42F292c6912E77",
		"-----BEGIN EC PRIVATE KEY-----", "-----END EC PRIVATE KEY-----", "MIIEabcd", "\x1b", "\x1b[", "eyJhbGci", ".eyJzdWIi",
	}, values...)
	var b []byte
	for len(b) < 2000 {
		p := parts[rnd.IntN(len(parts))]
		switch rnd.IntN(4) {
		case 0:
			p = p[:rnd.IntN(len(p)+1)]
		case 1:
			i := rnd.IntN(len(p) + 1)
			p = p[:i] + parts[rnd.IntN(7)] + p[i:]
		}
		b = append(b, p...)
	}
	return b
}

// TestMask_AnyWindow checks that every read masks the same bytes, for any start and end, also at the end of the output
// so far.
//
// FEATURES: R110
func TestMask_AnyWindow(t *testing.T) {
	tier.Full(t)
	values := []string{"hunter22", "aaaaaaaa", "abcabcabcd", "two words here", "x\x1b[1my-secret"}
	s := newTestVault(t, values...).Set()
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 40 {
		out := randomOutput(rnd, values)
		whole := bytes.Clone(out)
		s.Redact(whole, 0, 0, len(whole))
		if len(whole) != len(out) || bytes.Contains(whole, []byte("hunter22")) {
			t.Fatalf("round %d: %q", round, whole)
		}
		most := 30 + rnd.IntN(400)
		next := func() int { return 1 + rnd.IntN(most) }
		for _, live := range []bool{false, true} {
			least := whole
			if live {
				least = out
			}
			if got, at := maskInPieces(s, out, next, live), 0; !isBetween(got, least, whole, &at) {
				t.Fatalf("round %d, live %v: differs at %d of %d:\n got %q\nwant %q", round, live, at, len(whole), got[max(0, at-60):min(len(got), at+60)], whole[max(0, at-60):min(len(whole), at+60)])
			}
		}
	}
}

// isBetween reports whether got has masked at least the bytes of least and at most those of most, and sets at otherwise.
func isBetween(got, least, most []byte, at *int) bool {
	if len(got) != len(most) {
		return false
	}
	for i := range got {
		if *at = i; got[i] != least[i] && got[i] != most[i] {
			return false
		}
	}
	return true
}

// TestMaskFrame checks that a secret is masked on the screen, also across rows, in colours, or wide.
//
// FEATURES: R110
func TestMaskFrame(t *testing.T) {
	s := newTestVault(t, "hunter22", "秘密のパスワード").Set()
	for in, want := range map[string]string{
		"a hunter22 b":               "a ******** b",
		"0123456789012345hunter22 b": "0123456789012345****|**** b",
		"hun\x1b[7mter\x1b[0m22":     "********",
		"hunt\r\ner22":               "****|****",
		"x秘密のパスワード":                  "x" + strings.Repeat("*", 16),
		testToken:                    "ghp_****************|********************",
		"\x1b]0;hunter22\x07t":       "t",
	} {
		term := vterm.New(vterm.Options{Cols: 20, Rows: 4})
		_, _ = term.Write([]byte(in))
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		s.RedactFrame(&f, nil)
		if got := strings.TrimRight(rowsOf(&f), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if strings.Contains(f.Title, "hunter") {
			t.Errorf("title %q", f.Title)
		}
	}
}

// rowsOf returns the text of a screen's rows.
func rowsOf(f *vterm.Frame) string {
	var rows []string
	for _, l := range f.Lines {
		var b []byte
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		rows = append(rows, strings.TrimRight(string(b), " "))
	}
	return strings.Join(rows, "|")
}

// TestMaskFrame_WithHistoryAbove checks that a secret that begins in the history is masked on the primary screen, but
// does not continue on the alternate one.
//
// FEATURES: R110
func TestMaskFrame_WithHistoryAbove(t *testing.T) {
	s := newTestVault(t, "hunter22").Set()
	for in, want := range map[string]string{
		"0123456789012345hunter22 b\r\n1\r\n2\r\n3":                    "**** b|1|2|3",
		"hunt\r\ner22\r\n1\r\n2\r\n3":                                  "****|1|2|3",
		"0123456789012345hunter22\r\n1\r\n2\r\n3\x1b[?1049h\x1b[Her22": "er22|||",
	} {
		for _, frame := range []func(*vterm.Frame, []vterm.Line){s.RedactFrame, NewStreamRedactor(s).RedactFrame} {
			term := vterm.New(vterm.Options{Cols: 20, Rows: 4})
			_, _ = term.Write([]byte(in))
			above := LinesAbove(term)
			var f vterm.Frame
			term.Frame(&f, vterm.Query{})
			frame(&f, above)
			if got := rowsOf(&f); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		}
	}
}

func FuzzMask(f *testing.F) {
	s := newTestVault(f, "hunter22", "aaaaaaaa", "two words").Set()
	f.Add([]byte("x hunter22 \x1b[1mhun\x1b[0mter22 -----BEGIN PRIVATE KEY-----\nabc"), uint16(3))
	f.Add([]byte("h\bhu\bun\bnter22 XXXter22\rhun\x1b[2Kx huX\x1b[Dnter22 \xe2\x80\xaehun\x1b]0;t\x07ter22"), uint16(5))
	f.Add([]byte(`{"a":"hunter\u00322","b":"{\"c\":\"h\\u0075nter22\"}","k":"-----BEGIN PRIVATE KEY-----\nab\/c"} \\\\\u00`), uint16(4))
	f.Add([]byte("https://u:p@h Bearer abcdef0123456789abcdef eyJhbGciOiJIUzI1NiJ9.eyJzdWIi"), uint16(7))
	f.Fuzz(func(t *testing.T, out []byte, step uint16) {
		if len(out) > 1<<10 { // each read has a window
			return
		}
		whole := bytes.Clone(out)
		s.Redact(whole, 0, 0, len(whole))
		for i := range whole {
			if whole[i] != out[i] && whole[i] != '*' {
				t.Fatalf("byte %d became %q", i, whole[i])
			}
		}
		for _, live := range []bool{false, true} {
			least, at := whole, 0
			if live {
				least = out
			}
			if got := maskInPieces(s, out, func() int { return 1 + int(step%512) }, live); !isBetween(got, least, whole, &at) {
				t.Fatalf("live %v:\n got %q\nwant %q", live, got, whole)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	s := newTestVault(b, "hunter22", "correct horse battery").Set()
	out := bytes.Repeat([]byte("some lines of output, as a build prints them: 1234 ok\r\n"), 20000)
	b.SetBytes(int64(len(out)))
	for b.Loop() {
		s.Redact(out, 0, 0, len(out))
	}
}

func ExampleSet_RedactText() {
	v, _ := NewVault(NewKey(), nil, Options{})
	v.Learn("hunter22")
	fmt.Println(v.Set().RedactText("login --password hunter22 --verbose"))
	// Output: login --password ******** --verbose
}

// TestMaskDeep checks that texts anywhere in a value are masked; values that it shares with others are not written to.
//
// FEATURES: R110
func TestMaskDeep(t *testing.T) {
	type inner struct {
		Text string
		n    int
	}
	type answer struct {
		Name  string
		List  []inner
		By    map[string]string
		Any   any
		P     *string
		Bytes []byte
		When  time.Time
	}
	secret := "hunter22"
	now := time.Now()
	given := answer{"x hunter22", []inner{{"hunter22", 1}}, map[string]string{"k": "hunter22"}, inner{Text: "hunter22"}, &secret, []byte("hunter22"), now}
	got := given
	newTestVault(t, "hunter22").Set().RedactDeep(&got)
	if got.Name != "x ********" || got.List[0] != (inner{"********", 1}) || got.By["k"] != "********" || got.Any != (inner{Text: "********"}) ||
		*got.P != "********" || string(got.Bytes) != "hunter22" || !got.When.Equal(now) {
		t.Errorf("%+v", got)
	}
	if secret != "hunter22" || given.List[0].Text != "hunter22" || given.By["k"] != "hunter22" {
		t.Error("got a changed shared value")
	}
}

// TestMask_NestedTokens checks that output of token prefixes takes linear time: each byte is masked once.
func TestMask_NestedTokens(t *testing.T) {
	s := newTestVault(t).Set()
	for _, part := range []string{"sk-", "sk-1", "eyJ.", "-----BEGIN PRIVATE KEY-----", "Bearer ", "://a:b", "ghp_", "AIza-"} {
		out := bytes.Repeat([]byte(part), (64<<10)/len(part))
		masked := 0
		s.findSecrets(out, 0, func(pieces []span) {
			for _, p := range pieces {
				masked += p.to - p.from
			}
		})
		if masked > len(out) {
			t.Errorf("%q: %d bytes masked of %d", part, masked, len(out))
		}
	}
}

// TestMaskCommand checks that the value of a secret variable in a command line is masked before any shell has run the
// line.
//
// FEATURES: R109 R110
func TestMaskCommand(t *testing.T) {
	for in, want := range map[string]string{
		"export API_KEY=hunter22; echo hunter22":         "export API_KEY=********; echo ********",
		"A_TOKEN='two words' B_TOKEN=\"hunter22\" cmd":   "A_TOKEN='*********' B_TOKEN=\"********\" cmd",
		"A_TOKEN=$(cat f) B_TOKEN=$OTHER make X=plain12": "A_TOKEN=$(cat f) B_TOKEN=$OTHER make X=plain12",
		"echo no assignment":                             "echo no assignment",
	} {
		if got := newTestVault(t).RedactCommand(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	var none *Vault
	if none.RedactCommand("A_TOKEN=hunter22") != "A_TOKEN=hunter22" {
		t.Error("nothing masks")
	}
}

// TestMask_LongValueInColours checks that a value of the maximum length is masked with colours between its bytes: they
// may be as far apart as every read sees.
//
// FEATURES: R110
func TestMask_LongValueInColours(t *testing.T) {
	value := strings.Repeat("4f9a0c7e", MaxValue/8)
	s := newTestVault(t, value).Set()
	var printed, want strings.Builder
	for i := 0; i < len(value); i += 8 {
		printed.WriteString("\x1b[38;5;118m" + value[i:i+8])
		want.WriteString("\x1b[38;5;118m********")
	}
	if got := s.RedactText(printed.String()); got != want.String() {
		t.Errorf("%s", describeDifference([]byte(got), []byte(want.String())))
	}
}
