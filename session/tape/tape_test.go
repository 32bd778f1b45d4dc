package tape

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestRead parses a tape as VHS's users write them.
//
// FEATURES: R120
func TestRead(t *testing.T) {
	const src = `# Where should we write the GIF?
Output demo.gif
Output "a b.svg" # after a comment
Require git

Set Shell "fish"
Set FontSize 22
Set FontFamily "Fira Code"
Set Width 1200
Set Height 600
Set Padding 20
Set Framerate 60
Set PlaybackSpeed 1.5
Set WaitTimeout 1m
Set WaitPattern /\$ $/
Set Theme high-contrast
Env NAME "a value"

Type "echo 'hi'" Sleep 500ms Enter
Set TypingSpeed 0.1
Type@5ms ` + "`\"quoted\"`" + ` 'x'
Backspace 18
Ctrl+C Ctrl+Alt+x Alt+. Shift+Tab Down@1s 3
Wait+Screen@30s /a\/b c/
Wait
Hide Show
Screenshot x.png
Copy "clip" Paste
Sleep 2
`
	tape, err := Read("demo.tape", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tape.Outputs, []string{"demo.gif", "a b.svg"}) || !reflect.DeepEqual(tape.Requires, []string{"git"}) ||
		!reflect.DeepEqual(tape.Env, []string{"NAME=a value"}) || !reflect.DeepEqual(tape.Ignored, []string{"FontFamily"}) {
		t.Errorf("%+v", tape)
	}
	s := tape.Settings
	if s.WaitPattern == nil || s.WaitPattern.String() != `\$ $` {
		t.Errorf("pattern %v", s.WaitPattern)
	}
	s.WaitPattern = nil
	if want := (Settings{
		Shell: "fish", Width: 1200, Height: 600, FontSize: 22, Padding: 20, FPS: 50, Speed: 1.5, Theme: "high-contrast", WaitTimeout: time.Minute,
	}); s != want {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, st := range tape.Steps {
		line := fmt.Sprintf("%d %s %q", st.Line, st.Kind, st.Text)
		if st.Count > 0 {
			line += fmt.Sprintf(" ×%d", st.Count)
		}
		if st.Delay > 0 {
			line += " " + st.Delay.String()
		}
		if st.Pattern != nil {
			line += " /" + st.Pattern.String() + "/"
		}
		got = append(got, line)
	}
	want := strings.Split(`19 Type "echo 'hi'" 50ms
19 Sleep "" 500ms
19 Key "Enter" ×1 50ms
21 Type "\"quoted\"" 5ms
21 Type "x" 5ms
22 Key "Backspace" ×18 100ms
23 Key "C-c" ×1 100ms
23 Key "C-M-x" ×1 100ms
23 Key "M-." ×1 100ms
23 Key "S-Tab" ×1 100ms
23 Key "Down" ×3 1s
24 Wait "" 30s /a\/b c/
25 Wait ""
26 Hide ""
26 Show ""
27 Screenshot "x.png"
28 Copy "clip"
28 Paste ""
29 Sleep "" 2s`, "\n")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !tape.Steps[11].Screen || tape.Steps[12].Screen {
		t.Error("the scope of some waits is wrong")
	}
}

// TestMistakes checks that an error is reported with its position and a hint.
func TestMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"Output":                              `t:1:1: Output wants a name`,
		"Output \"\"":                         "the name is empty",
		"\n  Tpye \"x\"":                      `t:2:3: Tpye is no command of a tape; did you mean Type?`,
		"Type x":                              `t:1:1: Type wants a text in quotes, as in Type "x"`,
		"Type":                                "Type wants a text in quotes",
		"Type \"x":                            `t:1:6: the " that starts here has no end on its line`,
		"\"x\"":                               `a command is wanted here`,
		"Set FontSise 3":                      "did you mean FontSize?",
		"Set Nothing":                         "is no setting; there are Columns, FontSize",
		"Set FontSize":                        "FontSize wants a value",
		"Set FontSize NaN":                    "Set FontSize NaN: give 4 to 100 pixels",
		"Set Rows 0":                          "give 1 to 1000 cells",
		"Set TypingSpeed -1s":                 "a time",
		"Set WaitPattern /(/":                 "a regular expression",
		"Wait /(/":                            "error parsing regexp",
		"Wait+Page /x/":                       "there are Wait+Screen and Wait+Line",
		"Sleep 2h":                            "is no time",
		"Sleep NaN":                           "is no time",
		"Enter 0":                             "is no number of keys",
		"Ctrl+Nothing":                        "is no command of a tape",
		"Hide@3s":                             "write Hide",
		"Env A=B c":                           `"A=B" is no name of a variable`,
		"Source other.tape":                   "other tapes cannot be read here",
		"Type \"\xff\"":                       "not UTF-8",
		strings.Repeat("x", MaxBytes+1):       "bytes; ",
		strings.Repeat("Enter\n", maxSteps+1): "at most 100000 steps",
	} {
		_, err := Read("t", []byte(src), nil)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", src, err, want)
		}
	}
}

// TestSource checks that a tape that is sourced by another runs, but produces no output file, and that one that sources
// itself ends.
func TestSource(t *testing.T) {
	files := map[string]string{"setup": "Output no.gif\nSet Rows 3\nType \"s\"\n", "loop": "Source loop\n", "bad": "Enter\nEnter x\n"}
	open := func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	tape, err := Read("t", []byte("Output yes.gif\nSource setup Enter\n"), open)
	if err != nil || len(tape.Outputs) != 1 || tape.Settings.Rows != 3 || len(tape.Steps) != 2 || tape.Steps[1].Text != "Enter" {
		t.Errorf("%+v, %v", tape, err)
	}
	for src, want := range map[string]string{
		"Source loop": "within tapes more than 8 times", "Source bad": "bad:2:7: x is no command", "\nSource none": "t:2:8: Source none: file does not exist",
	} {
		if _, err := Read("t", []byte(src), open); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Output a.gif\nSet FontSize 20\nType@1ms \"x\" Enter 3 Wait+Screen@3s /a\\/b/\nCtrl+Alt+Delete\nSource a\n")
	f.Add("Set WaitPattern /[/\nSleep .5\nCtrl++\nAlt+é")
	f.Fuzz(func(t *testing.T, src string) {
		tape, err := Read("t", []byte(src), func(string) ([]byte, error) { return []byte(src), nil })
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%T: %v", err, err)
		}
		if err == nil {
			for _, s := range tape.Steps {
				if s.Delay < 0 || s.Delay > maxDelay || s.Kind == Key && (s.Count < 1 || s.Count > maxCount || s.Text == "") {
					t.Fatalf("%+v", s)
				}
			}
		}
	})
}

// FEATURES: R120
func TestWindow(t *testing.T) {
	src := "Output x.gif\nSet WindowBar ColorfulRight\nSet Margin 20\nSet MarginFill \"#6B50FF\"\nSet MarginFill wall.png\nSet WindowBarSize 40\n"
	tape, err := Read("demo.tape", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := tape.Settings; !s.Window || s.Margin != 20 || s.MarginColor != "#6B50FF" {
		t.Errorf("got %+v", s)
	}
	if got := strings.Join(tape.Ignored, "|"); got != `MarginFill "wall.png"|WindowBarSize` {
		t.Errorf("ignored are %s", got)
	}
	for _, set := range []string{"WindowBar Square", "Margin -1", "Margin 501"} {
		if _, err := Read("demo.tape", []byte("Set "+set+"\n"), nil); err == nil {
			t.Errorf("Set %s: got no error", set)
		}
	}
}

// FAULT: H20
//
// FEATURES: R120
func TestThemes_OfVHS(t *testing.T) {
	for _, c := range []struct{ set, theme, ignored string }{
		{`"Dracula"`, "Dracula", ""},
		{`"Catppuccin Mocha"`, "Catppuccin Mocha", ""},
		{`"Aardvark Blue"`, "", `Theme "Aardvark Blue"`},
		{`{ "name": "Whimsy", "black": "#535178" }`, "", `Theme "{…}"`},
	} {
		tape, err := Read("demo.tape", []byte("Output x.gif\nSet Theme "+c.set+"\nEnter\n"), nil)
		if err != nil || tape.Settings.Theme != c.theme || strings.Join(tape.Ignored, "|") != c.ignored || len(tape.Steps) != 1 {
			t.Errorf("%s: %+v, %v", c.set, tape, err)
		}
	}
}

// TestRead_TapeOfReadme checks that longterm plays the tape of README's picture.
func TestRead_TapeOfReadme(t *testing.T) {
	src, err := os.ReadFile("../../docs/pictures/readme.tape")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read("readme.tape", src, nil); err != nil {
		t.Error(err)
	}
}
