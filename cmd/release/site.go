package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed files/site.css files/site.js files/site.html
var siteFiles embed.FS

// page is a page of the documentation.
type page struct {
	Path, Title string // Path as in cli/longterm_ls.html
	Root        string // relative path from the page to the site's root
	Version     string
	Body        template.HTML
	Groups      []group
	Sections    []section // for "On this page"
	Prev, Next  *page     // in the order of the list of pages; nil at its ends, and for verbs
	parts       []part    // parts for the search index
}

// section is a second-level heading.
type section struct{ Anchor, Title string }

// group is a group in the list of pages.
type group struct {
	Name  string
	Pages []*page
}

// part is an entry of the search index: the text below a heading.
type part struct {
	Page    string `json:"p"`
	Anchor  string `json:"a,omitempty"`
	Title   string `json:"t"`
	Heading string `json:"h,omitempty"`
	Text    string `json:"x"`
}

// groups lists the pages of each group, in the order of the README's links. The last group lists verbs; unnamed pages
// belong to the one before.
var groups = []struct {
	name  string
	pages []string
}{
	{"Start", []string{"index", "tour", "install", "viewer", "picture-book", "web", "attach", "from-tmux", "from-zellij"}},
	{"Automate", []string{"errors", "expect", "from-scripts", "tapes", "pictures", "completions", "files", "library", "clients"}},
	{"Build", []string{"watching", "ci", "why", "projects", "ports", "transcript"}},
	{"Agents", []string{"agents", "mcp", "agent-sessions", "policy", "executions", "approvals", "inbox", "sandbox", "drafts", "secrets", "audit", "worktrees", "overnight"}},
	{"Operate", []string{"config", "hosts", "fleet", "tmux-compat", "SECURITY", "versions", "CHANGELOG"}},
	{"Internals", nil},
	{"Verbs", nil},
}

// makeSite makes the documentation's pages, which link to each other and can be searched without a server.
func makeSite(docs, readme, out, version string) error {
	pages, pictures, err := readPages(docs, readme)
	if err != nil {
		return err
	}
	listed := groupPages(pages)
	tmpl, err := template.ParseFS(siteFiles, "files/site.html")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	var parts []part
	for _, p := range pages {
		p.Groups, p.Version = listed, version
		var b bytes.Buffer
		if err := tmpl.Execute(&b, p); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if err := put(out, p.Path, b.Bytes()); err != nil {
			return err
		}
		parts = append(parts, p.parts...)
	}
	index, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	if err := put(out, "search.js", slices.Concat([]byte("const parts = "), index, []byte(";\n"))); err != nil {
		return err
	}
	for _, name := range []string{"site.css", "site.js"} {
		b, err := siteFiles.ReadFile("files/" + name)
		if err != nil {
			return err
		}
		if err := put(out, name, b); err != nil {
			return err
		}
	}
	for _, name := range pictures {
		b, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			return err
		}
		if err := put(out, name, b); err != nil {
			return err
		}
	}
	return nil
}

func put(dir, name string, b []byte) error {
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, b, 0o644)
}

// readPages reads all pages, and returns the files beside them that they may show.
func readPages(docs, readme string) (pages []*page, pictures []string, err error) {
	for _, name := range rootPages {
		file := filepath.Join(filepath.Dir(readme), name)
		if name == "index.md" {
			file = readme
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		p, err := readPage(name, b)
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, p)
	}
	walk := func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(docs, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch path.Ext(name) {
		case ".md":
			b, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			p, err := readPage(name, b)
			pages = append(pages, p)
			return err
		case ".png", ".svg", ".gif", ".json", ".txt", ".py", ".ts", ".tape":
			pictures = append(pictures, name)
		}
		return nil
	}
	return pages, pictures, errors.Join(err, filepath.WalkDir(docs, walk))
}

// rootPages names the pages that are made of files in the repository's root; index.md is the README.
var rootPages = []string{"index.md", "SECURITY.md", "CHANGELOG.md"}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// readPage makes a page of Markdown. Links to other Markdown files lead to their pages.
func readPage(name string, src []byte) (*page, error) {
	p := &page{Path: strings.TrimSuffix(name, ".md") + ".html", Root: strings.Repeat("../", strings.Count(name, "/"))}
	doc := markdown.Parser().Parse(text.NewReader(src))
	in := part{Page: p.Path}
	flush := func() {
		if in.Text = strings.TrimSpace(in.Text); in.Text != "" || in.Heading != "" {
			p.parts = append(p.parts, in)
		}
	}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(linkTo(name, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(linkTo(name, string(n.Destination)))
		case *ast.Heading:
			title := textOf(n, src)
			if p.Title == "" {
				p.Title, in.Title = title, title
				return ast.WalkContinue, nil
			}
			flush()
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			if n.Level == 2 {
				p.Sections = append(p.Sections, section{string(anchor), title})
			}
			in = part{Page: p.Path, Title: p.Title, Heading: title, Anchor: string(anchor)}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			in.Text += string(n.Lines().Value(src)) + " "
		case *ast.Text:
			if _, heading := n.Parent().(*ast.Heading); !heading {
				in.Text += string(n.Value(src)) + " "
			}
		case *ast.String:
			in.Text += string(n.Value) + " "
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	flush()
	p.Title = cmp.Or(p.Title, strings.TrimSuffix(path.Base(name), ".md"))
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, src, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.Body = template.HTML(b.String()) // trusted pages; goldmark omits raw HTML
	return p, nil
}

// linkTo returns the link to another page on the site, where the README is the start page in the directory of docs.
func linkTo(name, to string) string {
	if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	file, anchor, has := strings.Cut(to, "#")
	if slices.Contains(rootPages, name) {
		file = strings.TrimPrefix(file, "docs/")
	}
	switch {
	case strings.HasSuffix(file, "README.md"):
		file = strings.TrimSuffix(file, "README.md") + "index.html"
		file = strings.TrimPrefix(file, "../") // docs/x.md links to ../README.md
	case strings.HasPrefix(file, "../") && slices.Contains(rootPages, path.Base(file)) && !strings.Contains(name, "/"):
		file = strings.TrimSuffix(path.Base(file), ".md") + ".html"
	case strings.HasSuffix(file, ".md"):
		file = strings.TrimSuffix(file, ".md") + ".html"
	case strings.HasPrefix(path.Join(path.Dir("docs/"+name), file), "docs"):
	default: // a file or a directory of the repository
		file = "https://github.com/longterm-dev/longterm/blob/main/" + path.Join(path.Dir("docs/"+name), file)
	}
	if has {
		file += "#" + anchor
	}
	return file
}

func textOf(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// groupPages returns the pages in their groups.
func groupPages(pages []*page) []group {
	byName := map[string]*page{}
	for _, p := range pages {
		byName[strings.TrimSuffix(p.Path, ".html")] = p
	}
	list := make([]group, len(groups))
	for i, g := range groups {
		list[i].Name = g.name
		for _, name := range g.pages {
			if p := byName[name]; p != nil {
				list[i].Pages = append(list[i].Pages, p)
				delete(byName, name)
			}
		}
	}
	for _, p := range pages {
		if byName[strings.TrimSuffix(p.Path, ".html")] == nil {
			continue
		}
		at := len(list) - 2
		if strings.HasPrefix(p.Path, "cli/") {
			at++
		}
		list[at].Pages = append(list[at].Pages, p)
	}
	var last *page
	for _, g := range list[:len(list)-1] {
		for _, p := range g.Pages {
			if p.Prev = last; last != nil {
				last.Next = p
			}
			last = p
		}
	}
	return list
}
