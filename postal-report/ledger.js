// The chart of a ledger: of each stretch of time what was acknowledged, and how many of each kind were found wrong.
const span = index => elapsed(index * data.width_s) + ' – ' + elapsed((index + 1) * data.width_s);
const strokes = () => data.kinds.map((kind, index) => kind.label === 'lost' ? colour('--bad') : own(index));
const timesChart = () => {
    const of = strokes();
    const middles = data.times.map((each, index) => ({ x: (index + 0.5) * data.width_s, index }));
    const made = options(
        {
            x: { ...timeAxis(), stacked: true, offset: false },
            y: axis('messages found wrong', { stacked: true, beginAtZero: true, ticks: { precision: 0, callback: number } }),
            y2: axis('acknowledged', { axis: 'y', position: 'right', beginAtZero: true, grace: '8%', grid: { drawOnChartArea: false },
                ticks: { precision: 0, callback: number } })
        },
        {
            title: items => span(items[0].raw.index),
            label: item => ' ' + item.dataset.label + ': ' + number(item.raw.y)
        },
        true);
    made.normalized = false;
    made.plugins.tooltip.filter = item => item.raw.y > 0 || item.dataset.type === 'line';
    return {
        type: 'bar',
        data: {
            datasets: [
                line('acknowledged', middles.map(at => ({ ...at, y: data.times[at.index].acknowledged })), colour('--soft'),
                    { type: 'line', yAxisID: 'y2', borderWidth: 1.2, marked: null, backgroundColor: 'transparent' }),
                ...data.kinds.map((kind, index) => ({
                    label: kind.label, backgroundColor: of[index], borderColor: of[index], yAxisID: 'y', stack: 'found',
                    pointStyle: shapes[index % shapes.length], barPercentage: 1, categoryPercentage: 0.9,
                    data: middles.map(at => ({ ...at, y: data.times[at.index].found[index] }))
                }))
            ]
        },
        options: made
    };
};

show({ 'chart-times': timesChart });
