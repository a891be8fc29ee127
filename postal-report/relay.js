// Charts of a relay.

// A step of a course is [start_s, end_s, accepted a minute, delivered a minute, backlog].
const [START, END, ACCEPTED, DELIVERED, BACKLOG] = [0, 1, 2, 3, 4];
const course = (part, column) => part.course.map(of => ({ x: (of[START] + of[END]) / 2, y: of[column], of }));

const courseChart = part => () => {
    const most = Math.max(1, ...part.course.map(of => of[BACKLOG]));
    const show = item => item.dataset.yAxisID === 'y'
        ? number(item.raw.y) + ' messages/min' : number(item.raw.y) + ' messages';
    return {
        type: 'line',
        data: {
            datasets: [
                line('accepted', course(part, ACCEPTED), own(0), { yAxisID: 'y', pointStyle: 'circle' }),
                line('delivered', course(part, DELIVERED), own(2),
                    { yAxisID: 'y', pointStyle: 'triangle', borderDash: [7, 3] }),
                line('backlog', course(part, BACKLOG), own(1),
                    { yAxisID: 'y2', pointStyle: 'rect', fill: 'origin', borderWidth: 1.2 })
            ]
        },
        options: options(
            {
                x: timeAxis(),
                y: axis('messages / min', { beginAtZero: true, grace: '8%', ticks: { callback: number } }),
                y2: axis('backlog (messages)', {
                    axis: 'y', position: 'right', min: 0, max: most * 1.08, grid: { drawOnChartArea: false },
                    ticks: { callback: value => Number.isInteger(value) ? number(value) : null }
                })
            },
            {
                title: items => elapsed(items[0].raw.of[START]) + ' – ' + elapsed(items[0].raw.of[END]),
                label: item => ' ' + item.dataset.label + ': ' + show(item)
            },
            true)
    };
};

// A domain has the same colour and mark in both reports.
const transitChart = () => {
    const labels = data.tails.filter(one => !one.there).map(one => one.label);
    const place = one => Math.max(0, labels.indexOf(one.there ? one.label.replace(/ there$/, '') : one.label));
    return tailChart(data.tails.map(one => line(one.label, tail(one.points), own(place(one)), {
        pointStyle: shapes[place(one) % shapes.length], borderDash: one.there ? [5, 4] : []
    })), true);
};

show({
    'chart-course': courseChart(data.series[0]),
    'chart-transit': transitChart,
    ...Object.fromEntries(data.parts.map((part, index) => ['chart-part-' + index, courseChart(part)]))
});
