package redact

import "reflect"

// Deep masks the strings in a value: in its fields, elements and pointers. v is a pointer; maps and shared values are
// replaced, not written to. It leaves []byte alone.
func (s *Set) Deep(v any) {
	if !s.Empty() {
		Rewrite(v, s.Text)
	}
}

// Rewrite changes each text in a value, as Deep does.
func Rewrite(v any, change func(string) string) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(rewriter{change, nil}.of(p.Elem(), 0))
	}
}

// RewriteIn changes the texts in those values in a value that are of some types.
func RewriteIn(v any, types map[reflect.Type]bool, change func(string) string) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(rewriter{change, types}.of(p.Elem(), 0))
	}
}

// rewriter changes texts; in has the types within which it does, nil: everywhere.
type rewriter struct {
	change func(string) string
	in     map[reflect.Type]bool
}

// maxDepth bounds what refers to itself.
const maxDepth = 32

func (r rewriter) of(v reflect.Value, depth int) reflect.Value {
	if depth > maxDepth || !mayHaveText(v.Kind()) {
		return v
	}
	if r.in[v.Type()] {
		r.in = nil
	}
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if r.in != nil {
			return v
		}
		if got := r.change(text); got != text {
			return reflect.ValueOf(got).Convert(v.Type())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		got := r.of(v.Elem(), depth+1)
		if v.Kind() == reflect.Interface {
			return got
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(got)
		return p
	case reflect.Slice:
		if v.IsNil() || !mayHaveText(v.Type().Elem().Kind()) {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(r.of(v.Index(i), depth+1))
		}
		return list
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), r.of(it.Value(), depth+1))
		}
		return m
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(r.of(v.Field(i), depth+1))
			}
		}
		return c
	}
	return v
}

func mayHaveText(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	}
	return false
}
