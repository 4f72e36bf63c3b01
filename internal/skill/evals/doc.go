// Package evals has the formats of a skill's eval suite as values: cases,
// deterministic checks, trigger queries, questions with exact answers, gradings,
// and the pass rate. It does no I/O.
package evals
