package expect

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// fakeDriver is a terminal whose program is a map of answers: typing a key of the map prints its value.
type fakeDriver struct {
	answers          map[string]string
	log              []string // spawned programs and input
	unread           string
	screen           string
	cwd              string
	exited           bool
	exitCode         int
	endsOnExpectExit bool // the program ends when Exit is expected
	waitsForMatch    bool // Expect without a match waits, instead of returning ErrExited
}

// write prints an answer; EXIT N ends the program.
func (f *fakeDriver) write(s string) {
	if rest, ok := strings.CutPrefix(s, "EXIT"); ok {
		f.exited = true
		_, _ = fmt.Sscan(rest, &f.exitCode) // no number: 0
		return
	}
	f.unread += s
	f.screen += s
}

func (f *fakeDriver) Spawn(_ context.Context, s Spawn) error {
	command := s.Line
	if command == "" {
		command = strings.Join(s.Argv, " ")
	}
	if command == "missing" {
		return fmt.Errorf("no program %q", command)
	}
	f.log = append(f.log, "spawn "+command)
	f.write(f.answers["spawn"])
	return nil
}

func (f *fakeDriver) Type(_ context.Context, in Input) error {
	f.log = append(f.log, string(in.Kind)+" "+in.Value)
	f.write(f.answers[in.Value])
	return nil
}

func (f *fakeDriver) Expect(ctx context.Context, patterns []Pattern) (Match, error) {
	for i, p := range patterns {
		f.exited = f.exited || f.endsOnExpectExit && p.Exit
		expr := p.Regexp
		if p.Text != "" {
			expr = regexp.QuoteMeta(p.Text)
		}
		if p.Exit && f.exited {
			return Match{Pattern: i}, nil
		}
		if p.Exit {
			continue
		}
		re := regexp.MustCompile(expr)
		if loc := re.FindStringSubmatchIndex(f.unread); loc != nil {
			m := Match{Pattern: i, Groups: re.FindStringSubmatch(f.unread), NamedGroups: map[string]string{}}
			m.Text = m.Groups[0]
			for j, name := range re.SubexpNames() {
				if name != "" {
					m.NamedGroups[name] = m.Groups[j]
				}
			}
			f.unread = f.unread[loc[1]:]
			return m, nil
		}
	}
	if f.waitsForMatch {
		<-ctx.Done()
		return Match{}, ctx.Err()
	}
	return Match{}, ErrExited
}

func (f *fakeDriver) State(context.Context) (TerminalState, error) {
	return TerminalState{Screen: f.screen, Cwd: f.cwd, Exited: f.exited, ExitCode: f.exitCode}, nil
}
