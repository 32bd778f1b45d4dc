package expect

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// fake is a terminal whose program is a list of answers: typing the key of an entry
// prints its value.
type fake struct {
	answers map[string]string
	log     []string
	unread  string
	screen  string
	cwd     string
	exited  bool
	code    int
	ending  bool // it ends a moment after it was last looked at
	hang    bool // an expectation that is not met waits, instead of the program ending
}

func (f *fake) print(s string) {
	if rest, ok := strings.CutPrefix(s, "EXIT"); ok {
		f.exited = true
		_, _ = fmt.Sscan(rest, &f.code) // no number: 0
		return
	}
	f.unread += s
	f.screen += s
}

func (f *fake) Spawn(_ context.Context, s Spawn) error {
	what := s.Line
	if what == "" {
		what = strings.Join(s.Argv, " ")
	}
	if what == "missing" {
		return fmt.Errorf("no program %q", what)
	}
	f.log = append(f.log, "spawn "+what)
	f.print(f.answers["spawn"])
	return nil
}

func (f *fake) Type(_ context.Context, in Input) error {
	f.log = append(f.log, string(in.Kind)+" "+in.Value)
	f.print(f.answers[in.Value])
	return nil
}

func (f *fake) Expect(ctx context.Context, patterns []Pattern) (Match, error) {
	for i, p := range patterns {
		f.exited = f.exited || f.ending && p.Exit
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
			m := Match{Pattern: i, Groups: re.FindStringSubmatch(f.unread), Names: map[string]string{}}
			m.Text = m.Groups[0]
			for j, name := range re.SubexpNames() {
				if name != "" {
					m.Names[name] = m.Groups[j]
				}
			}
			f.unread = f.unread[loc[1]:]
			return m, nil
		}
	}
	if f.hang {
		<-ctx.Done()
		return Match{}, ctx.Err()
	}
	return Match{}, ErrExited
}

func (f *fake) Look(context.Context) (View, error) {
	return View{Screen: f.screen, Cwd: f.cwd, Exited: f.exited, ExitCode: f.code}, nil
}
