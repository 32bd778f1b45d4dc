package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var showWords = flag.String("words", "", "print every place of this package or page that TestWords counts")

// avoid lists words that our texts avoid and their replacements: docs/contributing.md, "How we write".
var avoid = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{words(`tell|tells|told|say|says|said`), "returns, reports, publishes, prints"},
	{words(`who|whom|whoever|whomever|nobody|somebody|anybody|everybody|whatever`), "name the caller, client, agent or user"},
	{words(`that there (?:is|are|was|were)`), "state it"},
	{words(`there (?:is|are) (?:no|none|nothing)|(?:is|are|was|were) (?:none|nothing)|has none`), "X is missing; not found; without X"},
	{words(`of which|of what|by what|what (?:it|he|they) (?:is|are|was|were|has|had) (?:told|asked|given|for)`), "name the subject"},
	{words(`to be had|can be had|any more|no more|not any longer`), "available; no longer"},
	{words(`once more|anew|again and again`), "again; retry"},
	{words(`aside|meanwhile|bit by bit|along with it|as it comes`), "separately; in the background; incrementally"},
	{words(`(?:goes|go|went|gone|going) on|gets? along|gets? on`), "continues"},
	{words(`begun|begins?`), "starts, started"},
	{words(`dozes?|dozing|awake|nap|at rest|to rest|rests|resting`), "idle, parked, evicted"},
	{words(`stands? (?:at|in|on|where|there|behind|before|for)`), "is"},
	{words(`(?:is|are|was|were|has) gone|goes away|went away`), "removed, exited, closed"},
	{words(`left behind|leaves? behind|left out|leaves? out|(?:is|are) left`), "leftover, skipped, remaining"},
	{words(`what (?:became|becomes|came|comes|went|goes) (?:of|on|with)|what comes|what came`), "the outcome of"},
	{words(`in (?:its|the|their|his) place|takes? the place|all the same|from then on|from that on`), "instead; anyway; after that"},
	{words(`of (?:its|their|his|our) own|one's`), "own, dedicated"},
	{words(`mends?|mending|mended`), "fix, repair"},
	{words(`veil(?:s|ed)?|unveil\w*`), "redact, mask"},
	{words(`(?:is|are|was|were) to be|it has to|has to be|have to be`), "must, would"},
	{words(`but (?:for|of|what|by|those|who)|none but|no other|another one|that one`), "unless, other than"},
}

func words(alternatives string) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:` + alternatives + `)\b`)
}

// definition matches a function's comment that defines the function instead of stating what it does.
var definition = regexp.MustCompile(`^\w+ (?:is|are|was|were|says|tells|has|have|said|told)\b`)

// TestWords compares the phrases to avoid in each package and page with an allowance that only falls. With -update it lowers the
// allowances to what is found, with -words NAME it prints the places.
func TestWords(t *testing.T) {
	places := map[string][]string{}
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		places[dir] = append(places[dir], avoidedInSource(t, s.path)...)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range append(pages, "../../README.md") {
		name := filepath.ToSlash(strings.TrimPrefix(page, "../../"))
		if name == "docs/features.md" { // generated from the names of tests
			continue
		}
		places[name] = avoidedInPage(t, page, name)
	}
	if *showWords != "" {
		t.Log(strings.Join(places[*showWords], "\n"))
		return
	}

	const file = "testdata/words.txt"
	data, err := os.ReadFile(file)
	if err != nil && (!os.IsNotExist(err) || !*update) {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(data)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if allowed[name], err = strconv.Atoi(count); err != nil {
			t.Fatalf("%s: %q is not `NAME COUNT`", file, line)
		}
	}
	var now strings.Builder
	for _, name := range slices.Sorted(maps.Keys(places)) {
		found := len(places[name])
		limit := allowed[name]
		if len(data) == 0 {
			limit = found
		}
		switch {
		case found > limit:
			t.Errorf("%s: %d phrases to avoid, %d allowed; `go test ./cmd/longterm -run TestWords -v -words %s` lists them", name, found, limit, name)
		case found < limit && !*update:
			t.Errorf("%s: %d phrases to avoid, fewer than the allowance of %d: lower it with `go test ./cmd/longterm -run TestWords -update`", name, found, limit)
		}
		if count := min(found, limit); count > 0 {
			fmt.Fprintf(&now, "%s %d\n", name, count)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// avoidedIn returns a line for each phrase to avoid in a text at a place.
func avoidedIn(place, text string) (found []string) {
	text = strings.ToLower(text) // patterns that ignore case take twice the time
	for _, a := range avoid {
		for _, phrase := range a.pattern.FindAllString(text, -1) {
			found = append(found, fmt.Sprintf("%s: %q: write %s", place, phrase, a.instead))
		}
	}
	return found
}

// avoidedInSource checks the comments and messages of a file. Messages are string literals of at least three words.
func avoidedInSource(t *testing.T, name string) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "../../"+name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(f) {
		return nil
	}
	at := func(pos token.Pos) string { return name + ":" + strconv.Itoa(fset.Position(pos).Line) }
	for _, group := range f.Comments {
		found = append(found, avoidedIn(at(group.Pos()), group.Text())...)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if text := n.Doc.Text(); strings.HasPrefix(text, n.Name.Name+" ") && definition.MatchString(text) {
				found = append(found, fmt.Sprintf("%s: %q: start with a verb: returns, reports whether, sets, waits", at(n.Pos()), definition.FindString(text)))
			}
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && strings.Count(strings.TrimSpace(text), " ") > 1 && strings.Count(text, "\n") < 40 {
				found = append(found, avoidedIn(at(n.Pos()), text)...)
			}
		}
		return true
	})
	return found
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
)

// avoidedInPage looks at the text of a page outside code.
func avoidedInPage(t *testing.T, file, name string) (found []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := codeBlock.ReplaceAllStringFunc(string(data), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	line := 0
	for l := range strings.Lines(codeSpan.ReplaceAllString(text, "X")) {
		line++
		found = append(found, avoidedIn(name+":"+strconv.Itoa(line), l)...)
	}
	return found
}
