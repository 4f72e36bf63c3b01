package decision_test

import (
	
	
	

	
	

	
	"github.com/org/autoloop/internal/metric"
)







func negative(v metric.Value) metric.Value { return metric.Value{}.Sub(v) }








