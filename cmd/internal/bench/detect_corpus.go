//go:build unix

package bench

import (
	"bufio"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed corpus/detect.txt
var detectCorpus string

// corpusPrograms are programs of the corpus that wait in particular ways.
//
//go:embed corpus/programs
var corpusPrograms embed.FS

var detectShells = []string{"bash", "zsh", "fish", "dash", "mksh", "ksh"}

// situation is one row of the corpus: a line, and the truth about it.
type situation struct {
	category, name, line string
	shells               []string       // shells to run it in
	needs                []string       // required programs
	cols, rows           int            // terminal size; 0: default
	exit                 *int           // expected exit status; nil: unknown
	takes                time.Duration  // time until the end, or until it prompts for input
	output               *regexp.Regexp // pattern of the expected output
	input                string         // expected kind of input request; "" for none
	answer               string         // keys to type at the prompt
}

// parseCorpus reads a corpus; its form is explained in the file.
func parseCorpus(text string) ([]situation, error) {
	var list []situation
	category := ""
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			category = line[1 : len(line)-1]
		default:
			s, err := parseSituation(line)
			if err != nil {
				return nil, fmt.Errorf("corpus line %d: %w", n, err)
			}
			s.category = category
			list = append(list, s)
		}
	}
	return list, sc.Err()
}

// parseSituation parses "name | shells | line | exit | takes | seen". The line may contain bars.
func parseSituation(text string) (situation, error) {
	if strings.HasSuffix(text, " |") {
		text += " "
	}
	f := strings.Split(text, " | ")
	n := len(f)
	if n < 6 {
		return situation{}, fmt.Errorf("%d columns, there should be 6", n)
	}
	s := situation{line: strings.ReplaceAll(strings.Join(f[2:n-3], " | "), "⏎", "\n"), shells: shellsOf(f[1])}
	if err := s.parseAttributes(f[0]); err != nil {
		return s, err
	}
	if f[n-3] != "?" {
		code, err := strconv.Atoi(f[n-3])
		if err != nil {
			return s, fmt.Errorf("exit %q", f[n-3])
		}
		s.exit = &code
	}
	ms, err := strconv.Atoi(f[n-2])
	if err != nil {
		return s, fmt.Errorf("time %q", f[n-2])
	}
	s.takes = time.Duration(ms) * time.Millisecond
	return s, s.parseExpectation(f[n-1])
}

// shellsOf parses the shells column: "all", "posix -ksh" or names.
func shellsOf(text string) (shells []string) {
	for _, word := range strings.Fields(text) {
		without, leaves := strings.CutPrefix(word, "-")
		switch {
		case word == "all":
			shells = slices.Clone(detectShells)
		case word == "posix":
			shells = slices.DeleteFunc(slices.Clone(detectShells), func(s string) bool { return s == "fish" })
		case leaves:
			shells = slices.DeleteFunc(shells, func(s string) bool { return s == without })
		default:
			shells = append(shells, word)
		}
	}
	return shells
}

// parseAttributes parses the first column: the name and its attributes.
func (s *situation) parseAttributes(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 {
		return fmt.Errorf("no name")
	}
	s.name = words[0]
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "needs":
			s.needs = strings.Split(value, ",")
		case "size":
			if _, err := fmt.Sscanf(value, "%dx%d", &s.cols, &s.rows); err != nil {
				return fmt.Errorf("size %q", value)
			}
		default:
			return fmt.Errorf("attribute %q", word)
		}
	}
	return nil
}

// parseExpectation parses the last column: the expected output or input request.
func (s *situation) parseExpectation(text string) (err error) {
	if kind, ok := strings.CutPrefix(text, "input="); ok {
		parts := strings.SplitN(kind, " =>", 3)
		s.input = strings.TrimSpace(parts[0])
		text = ""
		if len(parts) > 1 {
			s.answer = strings.TrimSpace(parts[1])
		}
		if len(parts) > 2 {
			text = strings.TrimSpace(parts[2])
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		s.output, err = regexp.Compile("(?m)" + text)
	}
	return err
}

// writePrograms puts the corpus's programs into a directory.
func writePrograms(dir string) error {
	entries, err := corpusPrograms.ReadDir("corpus/programs")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		b, err := corpusPrograms.ReadFile("corpus/programs/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), b, 0o755); err != nil {
			return err
		}
	}
	return nil
}
