package diagnostics

import (
	"fmt"
	"strings"
	"testing"
)

// FEATURES: R28
func TestGitStatus(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		name, line, text string
		want             string
	}{
		{"long", "git status", `On branch main
Your branch is ahead of 'origin/main' by 2 commits.
  (use "git push" to publish your local commits)

Changes to be committed:
  (use "git restore --staged <file>..." to unstage)
	renamed:    b c -> d e
	new file:   n

Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
	modified:   a
	deleted:    "\303\274"

Untracked files:
  (use "git add <file>..." to include in what will be committed)
	u v

`, "main||origin/main|2|0|false;R d e<b c;A n; Ma; Dü;??u v"},
		{"diverged", "git status", "On branch x\nYour branch and 'origin/x' have diverged,\nand have 1 and 3 different commits each, respectively.\n\nnothing to commit, working tree clean\n", "x||origin/x|1|3|true"},
		{"behind", "git status", "On branch x\nYour branch is behind 'origin/x' by 1 commit, and can be fast-forwarded.\n\nnothing to commit, working tree clean\n", "x||origin/x|0|1|true"},
		{"detached", "git status", "HEAD detached at 906a06d\nnothing to commit, working tree clean\n", "|906a06d||0|0|true"},
		{"merge", "git status", "On branch main\nYou have unmerged paths.\n\nUnmerged paths:\n  (use \"git add <file>...\" to mark resolution)\n\tboth modified:   a\n\tdeleted by us:   b\n", "main|||0|0|false;UUa;DUb"},
		{"short", "git status -sb", "## main...origin/main [ahead 1, behind 2]\n M a\nR  \"b c\" -> \"d e\"\n?? \"\\303\\274\"\n!! x\n", "main||origin/main|1|2|false; Ma;R d e<b c;??ü;!!x"},
		{"short, no commits", "git status -sb", "## No commits yet on main\nA  a\n", "main|||0|0|false;A a"},
		{"short, detached", "git status -sb", "## HEAD (no branch)\n", "|HEAD||0|0|true"},
		{"porcelain 2", "git status --porcelain=v2 -b", "# branch.oid 906a06de\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +1 -2\n1 .M N... 100644 100644 100644 7898 7898 a b\n2 R. N... 100644 100644 100644 6178 6178 R100 d e\tb c\nu UU N... 100644 100644 100644 100644 1 2 3 m\n? \"\\303\\274\"\n", "main||origin/main|1|2|false; Ma b;R d e<b c;UUm;??ü"},
		{"clean, short", "git status -s", "", "|||0|0|true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Parse(c.line, &zero, c.text)
			if r.GitStatus == nil {
				t.Fatal("no output")
			}
			s := r.GitStatus
			got := fmt.Sprintf("%s|%s|%s|%d|%d|%v", s.Branch, s.Detached, s.Upstream, s.Ahead, s.Behind, s.Clean)
			for _, ch := range s.Changes {
				got += ";" + ch.Index + ch.Worktree + ch.Path
				if ch.From != "" {
					got += "<" + ch.From
				}
			}
			if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
	fail := 128
	if r := Parse("git status", &fail, "fatal: not a git repository (or any of the parent directories): .git\n"); r.Kind != Text || r.Summary.FirstError == nil {
		t.Errorf("%+v", r)
	}
}

// FEATURES: R28
func TestGitLog(t *testing.T) {
	zero := 0
	const full = `commit ceeb46c73358a7df5282f3a2c03e53fe75869508 (HEAD -> main, tag: v1)
Merge: 2009169 e12ae70
Author: Ann B <a@example.org>
Date:   Sat Nov 21 21:23:42 2026 +0000

    Merge side

commit 906a06de5c8683b20f2042230cf8ee020d148932
Author: Ann B <a@example.org>
Date:   Sat Nov 21 21:23:42 2026 +0000

    First commit
    
    With a body
    of two lines
`
	const graphed = `*   commit ceeb46c73358a7df5282f3a2c03e53fe75869508 (HEAD -> main, tag: v1)
|\  Merge: 2009169 e12ae70
| | Author: Ann B <a@example.org>
| | Date:   Sat Nov 21 21:23:42 2026 +0000
| | 
| |     Merge side
| | 
| * commit 906a06de5c8683b20f2042230cf8ee020d148932
|/  Author: Ann B <a@example.org>
|   Date:   Sat Nov 21 21:23:42 2026 +0000
|   
|       Side
| 
* commit 20091691d0d55f6375d5d08f2350d055535756e6
  Author: Ann B <a@example.org>
  Date:   Sat Nov 21 21:23:42 2026 +0000
  
      First commit
`
	for _, text := range []string{full, graphed} {
		r := Parse("git log", &zero, text)
		if r.Kind != GitLog || len(r.GitLog) < 2 {
			t.Fatalf("%+v", r)
		}
		a, b := r.GitLog[0], r.GitLog[len(r.GitLog)-1]
		if a.Hash != "ceeb46c73358a7df5282f3a2c03e53fe75869508" || strings.Join(a.Refs, "|") != "HEAD -> main|tag: v1" ||
			strings.Join(a.Merge, " ") != "2009169 e12ae70" || a.Author != "Ann B" || a.Email != "a@example.org" ||
			a.Date != "Sat Nov 21 21:23:42 2026 +0000" || a.Subject != "Merge side" || a.Body != "" {
			t.Errorf("%+v", a)
		}
		if b.Subject != "First commit" || b.Email != "a@example.org" || text == full && b.Body != "With a body\nof two lines" || len(b.Refs)+len(b.Merge) != 0 {
			t.Errorf("%+v", b)
		}
	}
	r := Parse("git log --oneline --graph", &zero, "*   ceeb46c (HEAD -> main) Merge side\n|\\  \n| * e12ae70 (side) Side\n* | 2009169 Second\n|/  \n* 906a06d First commit\n")
	var got []string
	for _, c := range r.GitLog {
		got = append(got, c.Hash+" "+strings.Join(c.Refs, ",")+" "+c.Subject)
	}
	if strings.Join(got, "\n") != "ceeb46c HEAD -> main Merge side\ne12ae70 side Side\n2009169  Second\n906a06d  First commit" {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if r := Parse("git log --oneline", &zero, strings.Repeat("ceeb46c x\n", maxEntries+5)); len(r.GitLog) != maxEntries || !r.Truncated {
		t.Errorf("%d commits, truncated %v", len(r.GitLog), r.Truncated)
	}
}
